"""The files around the code agree with each other: versions, workflows, forms, hooks, and the source distribution."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import radoncdt

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"

PLACEHOLDER = "PROJECT" + "_ADDRESS"


def read_yaml(path):
    return yaml.safe_load(path.read_text("utf-8"))


def find_name(requirement):
    """Return the normalised name of the package in a requirement."""
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def test_all_files_state_the_same_version():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["version"] == radoncdt.__version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    headings = re.findall(r"^## (\S+)(?: \((.+)\))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    versions = [heading for heading, _ in headings if heading[0].isdigit()]
    assert headings[0][0] == "Unreleased"
    assert versions[:1] in ([], [radoncdt.__version__])
    if versions:
        assert citation["date-released"].isoformat() == headings[1][1]


HOSTS = re.compile(
    r"(?:github|gitlab|codeberg|bitbucket)\.(?:com|org|io)[/:][\w.-]+/[\w.-]+|readthedocs\.io", re.IGNORECASE
)
OTHERS = {"github.com/DrBeckmann/NR-CDT"}
"""Repositories of others to which the documents refer."""


def list_texts():
    """List the files in which the address of the project could be."""
    texts = [*ROOT.glob("*"), *(ROOT / ".github").rglob("*"), *(ROOT / "docs").rglob("*")]
    names = ("Makefile", "LICENSE", ".pre-commit-config.yaml")
    suffixes = (".md", ".yml", ".yaml", ".toml", ".cff", ".txt", ".py")
    texts = [path for path in texts if path.is_file() and (path.suffix in suffixes or path.name in names)]
    return [path for path in texts if "_build" not in path.parts]


def test_the_address_is_defined_in_one_place():
    counts = {path.name: path.read_text("utf-8").count(PLACEHOLDER) for path in list_texts()}
    assert {name: n for name, n in counts.items() if n} in ({"SUPPORT.md": 1}, {})  # none once there is an address
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        assert "SUPPORT.md" in (ROOT / name).read_text("utf-8")


def test_no_address_is_invented():
    """Until the project has an address, no file may name one. Afterwards, they name that of SUPPORT.md."""
    support = (ROOT / "SUPPORT.md").read_text("utf-8")
    own = {address.removesuffix(".git") for address in HOSTS.findall(support)}
    assert bool(own) != (PLACEHOLDER in support)
    found = {
        address.removesuffix(".git") for path in list_texts() for address in HOSTS.findall(path.read_text("utf-8"))
    }
    assert found - OTHERS <= own
    assert "urls" not in PROJECT["project"] or own
    assert not {"repository-code", "url"} & read_yaml(ROOT / "CITATION.cff").keys() or own


@pytest.mark.parametrize("text", ["https://github.com/radoncdt/radoncdt", "git@gitlab.com/a/b.git", "a.readthedocs.io"])
def test_addresses_are_recognised(text):
    assert HOSTS.search(text)


def test_the_workflow_calls_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", makefile, re.MULTILINE))
    assert set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()) == targets
    jobs = read_yaml(WORKFLOW)["jobs"]
    commands = " ".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    called = set(re.findall(r"\bmake ([a-z][a-z0-9-]*)", commands))
    called |= {target.split()[0] for target in jobs["long"]["strategy"]["matrix"]["target"]}
    assert {"lint", "docs", "wheels", "sdist-test", "stress", "test-all"} <= called <= targets
    for job in jobs.values():
        assert set(job.get("needs", "").split()) <= jobs.keys()


def test_every_job_has_a_time_limit():
    jobs = read_yaml(WORKFLOW)["jobs"]
    assert [name for name, job in jobs.items() if not 0 < job.get("timeout-minutes", 0) <= 300] == []


def test_the_workflow_tests_the_oldest_version_of_python():
    versions = read_yaml(WORKFLOW)["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert PROJECT["project"]["requires-python"] == f">={versions[0]}"
    assert all(isinstance(version, str) for version in versions)  # 3.10 without quotes would be 3.1


@pytest.mark.parametrize("path", [p for p in FORMS if p.stem != "config"], ids=lambda path: path.stem)
def test_forms_have_all_required_keys(path):
    form = read_yaml(path)
    assert {"name", "description", "body"} <= form.keys()
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    for field in fields:
        assert field["type"] in ("textarea", "input", "dropdown", "checkboxes")
        assert field["attributes"]["label"]


def test_hooks_use_the_environment_of_the_project():
    (repository,) = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        folder, _, program = hook["entry"].split()[0].rpartition("/")
        assert (hook["language"], folder) == ("system", ".venv/test/bin")
        assert program in set(map(find_name, EXTRAS["test"]))


def test_everything_in_the_source_distribution_exists():
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert name.startswith("/"), f"without a slash, {name} would match in every folder"
        assert (ROOT / name[1:]).exists(), name


def test_the_table_of_extras_is_complete():
    table = (ROOT / "docs" / "start" / "install.md").read_text("utf-8").partition("## Extras")[2].partition("##")[0]
    listed = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(EXTRAS)


def test_the_versions_of_test_and_documentation_tools_are_pinned():
    pinned = {find_name(line) for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    extras = [EXTRAS[name] for name in ("test", "docs", "deep", "completion")]
    needed = {find_name(requirement) for extra in extras for requirement in extra}
    assert needed - {"radoncdt"} <= pinned


CODE = [ROOT / "conftest.py", ROOT / "hatch_build.py"]
for folder in ("src", "tests", "tools", "benchmarks"):
    CODE += sorted((ROOT / folder).rglob("*.py"))


def opens_text_without_encoding(call):
    """Return whether a call reads or writes a text file in the default encoding of the machine."""
    if any(keyword.arg in ("encoding", None) for keyword in call.keywords):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    if name in ("read_text", "write_text"):
        return len(call.args) == (name == "write_text")  # otherwise, the encoding is the last argument
    if name != "open":
        return False
    arguments = [ast.unparse(argument).strip("'") for argument in call.args]
    if isinstance(call.func, ast.Name):
        return len(arguments) == 1 or "b" not in arguments[1]
    return (not arguments and bool(call.keywords)) or arguments[:1] in (["r"], ["w"], ["a"], ["x"])  # of a path


def test_text_files_have_an_explicit_encoding():
    """On Windows, the default is not UTF-8."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_text_without_encoding(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(text, newline='')", True),
        ("path.write_text(text, encoding='utf-8')", False),
        ("open(path)", True),
        ("open(path, 'rb')", False),
        ("path.open('w')", True),
        ("path.open('wb')", False),
        ("Image.open(path)", False),
    ],
)
def test_calls_without_an_encoding_are_recognised(code, expected):
    assert opens_text_without_encoding(ast.parse(code, mode="eval").body) == expected
