// The robots function on the TypeScript SDK.
//
//   robots.js ADDRESS CERTS      over mutual TLS
//   robots.js FLAGS...           as the SDK serves it: with --tls-server-certs-dir it shows a certificate but asks nobody for one
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ServerCredentials } from "@grpc/grpc-js";
import {
    type ComposeFunction,
    fatal,
    fromCompose,
    FunctionRunner,
    getCondition,
    getObservedComposedResources,
    getObservedCompositeResource,
    newGrpcServer,
    normal,
    Ready,
    Resource,
    type RunFunctionResponse,
    serve,
    Target,
} from "@crossplane-org/function-sdk-typescript";
import { pino } from "pino";

const colors = ["red", "green", "blue", "yellow", "orange"];
const externalName = "crossplane.io/external-name";

type Resources = { [name: string]: Resource };

function pickColor(name: string): string {
    let hash = 2166136261;
    for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 16777619) >>> 0;
    return colors[hash % colors.length];
}

function colorOf(resources: Resources, name: string): string {
    return resources[name]?.resource?.spec?.forProvider?.color ?? "";
}

function tell(rsp: RunFunctionResponse, how: (rsp: RunFunctionResponse, message: string) => unknown, message: string): void {
    how(rsp, message);
    rsp.results[rsp.results.length - 1].target = Target.TARGET_COMPOSITE;
}

function composeRobot(observed: Resources, desired: Resources, rsp: RunFunctionResponse, group: string, name: string): void {
    const external = `${group}-${name}`;
    let color = colorOf(desired, name) || colorOf(observed, name);
    if (!color) {
        color = pickColor(external);
        tell(rsp, normal, `set robot "${name}" color to "${color}"`);
    }
    const earlier = desired[name]?.resource ?? {};
    const robot = {
        ...earlier,
        apiVersion: "iam.dummy.upbound.io/v1alpha1",
        kind: "Robot",
        metadata: { ...earlier.metadata, annotations: { ...earlier.metadata?.annotations, [externalName]: external } },
        spec: { ...earlier.spec, forProvider: { ...earlier.spec?.forProvider, color } },
    };
    const ready = getCondition(observed[name]?.resource, "Ready").status === "True";
    desired[name] = Resource.fromPartial({
        ...desired[name],
        resource: robot,
        ready: ready ? Ready.READY_TRUE : (desired[name]?.ready ?? Ready.READY_UNSPECIFIED),
    });
}

const robots: ComposeFunction = (req, rsp) => {
    // The SDK adds these empty where the request has none.
    const answer: RunFunctionResponse = { ...rsp, desired: req.desired, context: req.context };
    const xr = getObservedCompositeResource(req)?.resource ?? {};
    const count: unknown = xr.spec?.count;
    if (typeof count !== "number") {
        tell(answer, fatal, `observed composite resource: spec.count: ${count === undefined ? "no such field" : "not a (int64) number"}`);
        return answer;
    }
    const group: string = xr.metadata.annotations?.[externalName] || xr.metadata.name;
    const desired: Resources = { ...req.desired?.resources };
    for (let i = 0; i < count; i++) composeRobot(getObservedComposedResources(req), desired, answer, group, `robot-${i}`);
    if (count > 0) answer.desired = { composite: req.desired?.composite, resources: desired };
    return answer;
};

function serveMutually(address: string, certs: string): void {
    const [ca, key, crt] = ["ca.crt", "tls.key", "tls.crt"].map((name) => readFileSync(join(certs, name)));
    const logger = pino();
    const server = newGrpcServer(new FunctionRunner(fromCompose(robots), logger), logger);
    server.bindAsync(address, ServerCredentials.createSsl(ca, [{ private_key: key, cert_chain: crt }], true), (error) => {
        if (error) throw error;
    });
}

const [first, second] = process.argv.slice(2);
if (first.startsWith("--")) serve(robots);
else serveMutually(first, second);
