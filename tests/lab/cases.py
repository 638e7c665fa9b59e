"""Test cases in Python, each a function that fails by an exception."""

import traceback


def passes(what, case):
    """Prints and returns whether a case passes; a failure's error comes first, since summaries are short."""
    try:
        case()
    except Exception as error:
        print(f"not ok {what}\n    {type(error).__name__}: {error}")
        print("    " + traceback.format_exc().replace("\n", "\n    "), flush=True)
        return False
    print(f"ok {what}", flush=True)
    return True
