"""The robots function on the Python SDK, and a client that calls any.

robots.py serve ADDRESS [CERTS]
robots.py call ADDRESS RECORDS [CERTS NAME]
    sends every RECORDS/*.request and fails unless the response is RECORDS/*.response
"""

import asyncio
import pathlib
import sys

import grpc
from crossplane.function import resource, response, runtime
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

COLORS = ["red", "green", "blue", "yellow", "orange"]
EXTERNAL_NAME = "crossplane.io/external-name"


def pick_color(name):
    digest = 2166136261
    for byte in name.encode():
        digest = ((digest ^ byte) * 16777619) & 0xFFFFFFFF
    return COLORS[digest % len(COLORS)]


def tell(rsp, how, message):
    """Adds a result. The SDK leaves the target open, which means the composite resource; the other SDKs say so."""
    how(rsp, message)
    rsp.results[-1].target = fnv1.TARGET_COMPOSITE


def color_of(resources, name):
    if name not in resources:
        return ""
    robot = resource.struct_to_dict(resources[name].resource)
    return robot.get("spec", {}).get("forProvider", {}).get("color", "")


def compose_robot(req, rsp, group, name):
    external = f"{group}-{name}"
    color = color_of(req.desired.resources, name) or color_of(req.observed.resources, name)
    if not color:
        color = pick_color(external)
        tell(rsp, response.normal, f'set robot "{name}" color to "{color}"')
    robot = resource.struct_to_dict(rsp.desired.resources[name].resource)
    robot["apiVersion"] = "iam.dummy.upbound.io/v1alpha1"
    robot["kind"] = "Robot"
    robot.setdefault("metadata", {}).setdefault("annotations", {})[EXTERNAL_NAME] = external
    robot.setdefault("spec", {}).setdefault("forProvider", {})["color"] = color
    resource.update(rsp.desired.resources[name], robot)
    if resource.get_condition(req.observed.resources[name], "Ready").status == "True":
        rsp.desired.resources[name].ready = fnv1.READY_TRUE


class Robots(grpcv1.FunctionRunnerService):
    async def RunFunction(self, req, _):
        rsp = response.to(req)
        # The SDK adds these empty where the request has none.
        for field in ("desired", "context"):
            if not req.HasField(field):
                rsp.ClearField(field)
        xr = resource.struct_to_dict(req.observed.composite.resource)
        if "count" not in xr.get("spec", {}):
            tell(rsp, response.fatal, "observed composite resource: spec.count: no such field")
            return rsp
        count = xr["spec"]["count"]
        if not isinstance(count, (int, float)) or isinstance(count, bool):
            tell(rsp, response.fatal, "observed composite resource: spec.count: not a (int64) number")
            return rsp
        group = xr["metadata"].get("annotations", {}).get(EXTERNAL_NAME) or xr["metadata"]["name"]
        for i in range(int(count)):
            compose_robot(req, rsp, group, f"robot-{i}")
        return rsp


def serve(address, certs=None):
    creds = runtime.load_credentials(certs) if certs else None
    runtime.serve(Robots(), address, creds=creds, insecure=creds is None)


def channel(address, certs=None, name=None):
    if certs is None:
        return grpc.insecure_channel(address)
    ca, key, crt = (pathlib.Path(certs, f).read_bytes() for f in ("ca.crt", "tls.key", "tls.crt"))
    creds = grpc.ssl_channel_credentials(root_certificates=ca, private_key=key, certificate_chain=crt)
    return grpc.secure_channel(address, creds, options=[("grpc.ssl_target_name_override", name)])


def call(address, records, *tls):
    requests = sorted(pathlib.Path(records).glob("*.request"))
    if not requests:
        sys.exit(f"{records} holds no requests")
    with channel(address, *tls) as c:
        stub = grpcv1.FunctionRunnerServiceStub(c)
        for path in requests:
            req = fnv1.RunFunctionRequest.FromString(path.read_bytes())
            want = fnv1.RunFunctionResponse.FromString(path.with_suffix(".response").read_bytes())
            got = stub.RunFunction(req, timeout=20)
            if got != want:
                sys.exit(f"{path.name} differs\nrequest {req}\ngot {got}\nwanted {want}")


if __name__ == "__main__":
    # The SDK's server wants an event loop to be there.
    asyncio.set_event_loop(asyncio.new_event_loop())
    {"serve": serve, "call": call}[sys.argv[1]](*sys.argv[2:])
