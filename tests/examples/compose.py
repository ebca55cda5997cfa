"""Checks the form of a compose file: known keys, and names that are declared: compose.py FILE."""

import sys
from pathlib import Path

import yaml

SERVICE = {
    "build", "cap_drop", "depends_on", "environment", "healthcheck", "image", "ports", "read_only",
    "restart", "secrets", "security_opt", "stop_grace_period", "volumes",
}
path = Path(sys.argv[1])
document = yaml.safe_load(path.read_text())
assert set(document) == {"name", "services", "secrets", "volumes"}, set(document)
for name, service in document["services"].items():
    assert set(service) <= SERVICE, (name, set(service) - SERVICE)
    assert "image" in service or "build" in service, name
    if "build" in service:
        context = path.parent / service["build"]["context"]
        assert (context / service["build"]["dockerfile"]).is_file(), name
    for secret in service.get("secrets", []):
        assert secret in document["secrets"], (name, secret)
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        assert source.startswith("./") or source in document["volumes"], (name, source)
    for other, condition in service.get("depends_on", {}).items():
        assert condition["condition"] == "service_healthy", (name, other)
        assert "healthcheck" in document["services"][other], (name, other)
    for variable in service.get("environment", {}).values():
        if str(variable).startswith("/run/secrets/"):
            assert variable.removeprefix("/run/secrets/") in service["secrets"], (name, variable)
print(f"compose: {len(document['services'])} services")
