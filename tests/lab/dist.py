"""What tests/lab/dist.sh asks of what `make dist` has made: dist.py QUESTION WORD..."""
import json
import pathlib
import re
import struct
import subprocess
import sys


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff


def frame(kind, content):
    payload = json.dumps(content).encode()
    head = struct.pack("<II", len(payload), kind)
    return head + struct.pack("<I", crc32c(head + payload)) + payload


def serve(journal, run, *agent):
    """Gives an agent the plan of a run, and keeps what it says as a journal."""
    source = pathlib.Path("crates/model/src/frame.rs").read_text()
    stream = int(re.search(r"STREAM_VERSION: u32 = (\d+)", source)[1])
    plan = dict(json.load(open(run))["asked"], name="served")
    hello = {"stream": stream, "latlab": "test", "id": "20260101T000000Z_served"}
    with open(journal, "wb") as output:
        program = subprocess.Popen(agent, stdin=subprocess.PIPE, stdout=output)
        program.stdin.write(frame(1, hello) + frame(2, plan))
        program.stdin.flush()
        sys.exit(program.wait(timeout=60))


def bill(file):
    """That the bill of materials names what is linked in, with licences, and nothing else."""
    content = json.load(open(file))
    names = {part["name"]: part for part in content["components"]}
    assert content["bomFormat"] == "CycloneDX" and content["specVersion"] == "1.5", content["bomFormat"]
    linked = {"rustix", "parquet", "clap", "latlab-agent", "musl", "glibc", "dejavu-fonts", "uplot"}
    assert linked <= set(names), sorted(names)
    assert not {"proptest", "insta", "windows-sys"} & set(names), "what is not linked in"
    without = [name for name, part in names.items() if not part["licenses"][0]["expression"]]
    assert not without, f"without a licence: {without}"
    references = {part["bom-ref"] for part in [*content["components"], content["metadata"]["component"]]}
    for one in content["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= references, one


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
