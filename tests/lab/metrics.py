"""Metrics of `latlab serve`, read by third-party parsers."""

import json
import sys


def texts(here):
    """That the newest run of each scenario is in the texts of Prometheus and OpenMetrics."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as classic
    for read, name in ((classic, "text"), (openmetrics, "open")):
        families = {family.name: family for family in read(open(f"{here}/{name}").read())}
        cycles = {sample.labels["scenario"]: sample.value for sample in families["latlab_cycles"].samples}
        assert cycles["night"] == 200 and cycles["two words"] == 100, cycles
        assert any("of a sheet" in scenario and value == 50 for scenario, value in cycles.items()), cycles
        verdicts = {sample.labels["scenario"]: sample.labels["latlab_verdict"]
                    for sample in families["latlab_verdict"].samples if sample.value}
        assert verdicts["night"] == "pass" and verdicts["two words"] == "fail", verdicts
        counts = [sample for sample in families["latlab_latency_seconds"].samples if sample.name.endswith("_count")]
        assert {sample.labels["scenario"]: sample.value for sample in counts}["night"] == 200
    assert families["latlab_verdict"].type == "stateset" and families["latlab_run"].type == "info"


def native_maximum(answer, largest):
    """That the largest bucket of a native histogram has the largest latency."""
    found = float(json.load(open(answer))["data"]["result"][0]["value"][1])
    largest = float(largest)
    assert abs(found / largest - 1) < 0.05, (found, largest)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
