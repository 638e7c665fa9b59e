"""Cases of a test in Python, each a function that fails by an exception."""

import traceback


def passes(what, case):
    """Whether a case passes, after a line that says so; of a failure the error comes first, since a summary is short."""
    try:
        case()
    except Exception as error:
        print(f"not ok {what}\n    {type(error).__name__}: {error}")
        print("    " + traceback.format_exc().replace("\n", "\n    "), flush=True)
        return False
    print(f"ok {what}", flush=True)
    return True
