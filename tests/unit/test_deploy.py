"""The files in deploy/ agree with the metrics, the command line, the settings and the pages. Nothing here runs them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pgclarify.cli.main import all_commands
from pgclarify.embedded import Address
from pgclarify.worker import metrics as metrics_module
from pgclarify.worker.metrics_server import WatchedWorker
from tests.pages import CHECKOUT, anchors, blocks, tables
from tests.unit.compose import SERVICES, dockerfile
from tests.unit.test_docs import VARIABLES

ALERTS = CHECKOUT / "deploy" / "prometheus-alerts.yml"
CASES = CHECKOUT / "tests" / "unit" / "alert_cases.yml"
UNIT = CHECKOUT / "deploy" / "systemd.service"
PAGE = CHECKOUT / "docs" / "monitoring.md"
RULES: list[dict[str, Any]] = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((CHECKOUT / "deploy" / "grafana-dashboard.json").read_text())
TARGETS: list[dict[str, Any]] = [target for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
EXPRESSIONS: list[str] = [target["expr"] for target in TARGETS]
OBJECTS: dict[str, dict[str, Any]] = {
    each["kind"]: each for each in yaml.safe_load_all((CHECKOUT / "deploy" / "kubernetes.yaml").read_text())
}


@pytest.fixture(scope="module")
def families() -> dict[str, tuple[set[str], str]]:
    """All metrics of a worker, as Prometheus names them: their labels and their kind."""

    counts = dict.fromkeys((column for _, columns, _ in metrics_module._WORK for column in columns.values()), 1)
    found = {}
    for collector in WatchedWorker(lambda: counts)._registry._collector_to_names:
        for family in collector.collect():
            labels = set(getattr(collector, "_labelnames", ())) or {
                label for sample in family.samples for label in sample.labels
            }
            suffix = "_total" if family.type == "counter" else ""
            found[family.name + suffix] = (labels, family.type)
    return {name: known for name, known in found.items() if name.startswith("pgclarify_")}


def test_the_page_has_every_metric_with_its_labels(families: dict[str, tuple[set[str], str]]) -> None:
    rows = tables(PAGE, "metric")["Metrics"]
    shown = {row[0]: set(re.findall(r"\w+", row[1])) for row in rows}
    assert shown == {name: labels for name, (labels, _) in families.items()}


def metrics_of(expression: str, families: dict[str, tuple[set[str], str]]) -> set[str]:
    """The metrics that an expression reads, each of which exists, and has the labels that it compares."""
    known = {name: name for name, (_, kind) in families.items() if kind != "histogram"}
    histograms = (name for name, (_, kind) in families.items() if kind == "histogram")
    known |= {name + part: name for name in histograms for part in ("_bucket", "_sum", "_count")}
    named = set(re.findall(r"\bpgclarify_\w+", expression))
    assert named
    assert named <= known.keys()
    found = {known[name] for name in named}
    # Prometheus itself adds job and instance.
    compared = set(re.findall(r"[{,]\s*(\w+)(?:!?=|=~)", expression)) - {"__name__", "job"}
    assert compared <= set().union(*(families[name][0] for name in found))
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_an_alert_is_about_metrics_that_exist_and_says_what_to_do(
    rule: dict[str, Any], families: dict[str, tuple[set[str], str]]
) -> None:
    assert metrics_of(rule["expr"], families)
    kept = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    aggregated = re.findall(r"\bby \(([^)]*)\)", rule["expr"])
    grouped = set(re.split(r",\s*", ",".join(aggregated))) if aggregated else {"instance"}
    assert kept <= grouped, "the summary names a label that the expression drops"

    path, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert CHECKOUT / path == PAGE
    assert anchor == rule["alert"].lower()
    assert anchor in anchors(PAGE)


def test_the_dashboard_shows_every_metric_and_no_other(families: dict[str, tuple[set[str], str]]) -> None:
    shown = set().union(*(metrics_of(expression, families) for expression in EXPRESSIONS))
    assert shown == families.keys()
    (job,) = (variable for variable in DASHBOARD["templating"]["list"] if variable["name"] == "job")
    assert metrics_of(f"{job['query']}{{}}", families)


def test_panels_of_the_dashboard_do_not_overlap_and_group_by_labels_that_exist(
    families: dict[str, tuple[set[str], str]],
) -> None:
    places = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    for target in TARGETS:
        grouped = {name for group in re.findall(r"\bby \(([^)]*)\)", target["expr"]) for name in group.split(", ")}
        labels = set().union(*(families[name][0] for name in metrics_of(target["expr"], families)))
        assert grouped <= labels | {"le"}
        assert set(re.findall(r"{{(\w+)}}", target.get("legendFormat", ""))) <= (grouped or {"instance"})


needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool, of Debian's package prometheus, is not here"
)


def promtool(*arguments: str | Path) -> None:
    checked = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@needs_promtool
@pytest.mark.parametrize("arguments", [("check", "rules", ALERTS), ("test", "rules", CASES)], ids=["syntax", "cases"])
def test_prometheus_takes_the_rules(arguments: tuple[str | Path, ...]) -> None:
    promtool(*arguments)


@needs_promtool
def test_prometheus_takes_the_expressions_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"expression:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(EXPRESSIONS)
    ]
    written = tmp_path / "rules.yml"
    written.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", written)


@needs_promtool
def test_prometheus_takes_the_job_of_the_page(tmp_path: Path) -> None:
    (job,) = blocks(PAGE, "yaml")
    configuration = tmp_path / "prometheus.yml"
    configuration.write_text(f"rule_files: [{ALERTS}]\n{job.code}")
    promtool("check", "config", configuration)


def pods() -> Iterator[dict[str, Any]]:
    return (each["spec"]["template"]["spec"] for each in OBJECTS.values())


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The options of a command, as the command line reads them."""
    name, *rest = arguments
    return dict(all_commands().commands[name].make_context(name, list(rest)).params)


def test_workers_are_started_by_options_that_there_are() -> None:
    (container,) = OBJECTS["Deployment"]["spec"]["template"]["spec"]["containers"]
    for arguments in (container["args"], SERVICES["worker"]["command"]):
        options = parsed(arguments)
        assert Address.parse(options["metrics"]).port == 9464
        assert options["grace"] >= 30
    assert parsed(OBJECTS["Job"]["spec"]["template"]["spec"]["containers"][0]["args"]) == {}


def test_no_worker_is_killed_while_it_may_finish_runs() -> None:
    pod = OBJECTS["Deployment"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] >= parsed(pod["containers"][0]["args"])["grace"] + 20
    grace = parsed(SERVICES["worker"]["command"])["grace"]
    assert int(SERVICES["worker"]["stop_grace_period"].removesuffix("s")) >= grace + 20
    unit = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if re.match(r"\w+=", line))
    assert int(unit["TimeoutStopSec"]) >= parsed(unit["ExecStart"].split()[1:])["grace"] + 20


def test_probes_ask_for_what_a_worker_answers() -> None:
    container = OBJECTS["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    asked = {name: container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {name: probe["path"] for name, probe in asked.items()} == {
        "startupProbe": "/readyz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    assert {ports[probe["port"]] for probe in asked.values()} == {9464}
    assert f'"{9464}"' in (CHECKOUT / "deploy" / "kubernetes.yaml").read_text()


def test_variables_exist_and_secrets_come_from_the_secret() -> None:
    for pod in pods():
        for variable in pod["containers"][0]["env"]:
            # The library of the Hugging Face hub reads the other one.
            assert variable["name"] in VARIABLES.keys() | {"HF_HUB_OFFLINE"}
            is_secret = variable["name"].endswith(("_URL", "_KEY"))
            assert ("valueFrom" in variable) is is_secret
            if is_secret:
                assert variable["valueFrom"]["secretKeyRef"]["name"] == "pgclarify"


def test_workers_do_not_get_the_login_of_the_administrator() -> None:
    keys = {}
    for kind in ("Job", "Deployment"):
        (container,) = OBJECTS[kind]["spec"]["template"]["spec"]["containers"]
        (login,) = (each for each in container["env"] if each["name"] == "PGCLARIFY_DATABASE_URL")
        keys[kind] = login["valueFrom"]["secretKeyRef"]["key"]
    assert keys == {"Job": "database-url", "Deployment": "worker-database-url"}


def test_nothing_runs_as_root_or_can_become_it() -> None:
    of_image = next(int(line.value) for line in dockerfile() if line.name == "USER")
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == of_image > 0
        assert pod["automountServiceAccountToken"] is False
        (container,) = pod["containers"]
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert container["resources"]["limits"].keys() == {"memory"}
