"""A registry for packages in this process: what scenarios push, served over plain HTTP. Repositories whose path begins with `secret` want
user:secret. FUNCTION_PROGRAM names a function program that images can have."""

import base64
import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import re
import subprocess
import tarfile
import threading

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LOGIN = "Basic " + base64.b64encode(b"user:secret").decode()


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def layer_of(text):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        info = tarfile.TarInfo("package.yaml")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return raw.getvalue()


def program_of(path):
    """A layer with the program as /function, and the libraries that it needs."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        tar.add(path, "function")
        linked = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        for library in sorted(set(re.findall(r"/\S+", linked))):
            tar.add(os.path.realpath(library), library.lstrip("/"))
    return raw.getvalue()


@functools.cache
def pack(tar):
    return gzip.compress(tar, compresslevel=1, mtime=0)


class Registry:
    def __init__(self, port=0, is_open=True):
        """One that is not open makes its clients wait until open()."""
        self.blobs, self.manifests, self.tags = {}, {}, {}
        self.program = program_of(os.environ["FUNCTION_PROGRAM"]) if "FUNCTION_PROGRAM" in os.environ else None
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *a):
                pass

            def do_GET(self):
                registry.answer(self)

            do_HEAD = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *a: None  # clients that close connections are no news
        self.host = "127.0.0.1:%d" % self.server.server_address[1]
        if is_open:
            self.open()

    def open(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def push(self, reference, documents, has_program=False, variables=()):
        """Makes `REPOSITORY:TAG` mean a package with these documents; a text is package.yaml as it is. variables are the program's."""
        repository, tag = reference.rsplit(":", 1)
        text = documents if isinstance(documents, str) else "---\n" + "---\n".join(json.dumps(d) + "\n" for d in documents)
        tars = [layer_of(text.encode())] + ([self.program] if has_program else [])
        layers = [pack(tar) for tar in tars]
        config = json.dumps({"os": "linux", "architecture": "amd64",
                             "config": {"Entrypoint": ["/function"], "User": "2000", "Env": list(variables)} if has_program else {},
                             "rootfs": {"type": "layers", "diff_ids": [digest_of(tar) for tar in tars]}}).encode()
        manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest_of(config), "size": len(config)},
            "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest_of(layer), "size": len(layer),
                        **({} if i else {"annotations": {"io.crossplane.xpkg": "base"}})} for i, layer in enumerate(layers)]}).encode()
        for blob in [*layers, config]:
            self.blobs[digest_of(blob)] = blob
        self.manifests[digest_of(manifest)] = manifest
        self.tags.setdefault(repository, {})[tag] = digest_of(manifest)
        return digest_of(manifest)

    def find(self, path):
        """(status, type, body)"""
        parts = path.split("?")[0].removeprefix("/v2/").split("/")
        if path.rstrip("/") == "/v2":
            return 200, "application/json", b"{}"
        if parts[-2:] == ["tags", "list"]:
            tags = self.tags.get("/".join(parts[:-2]))
            return (404, "", b"") if tags is None else (200, "application/json", json.dumps({"tags": sorted(tags)}).encode())
        repository, kind, name = "/".join(parts[:-2]), parts[-2], parts[-1]
        if kind == "blobs" and name in self.blobs:
            return 200, "application/octet-stream", self.blobs[name]
        found = self.manifests.get(name if name.startswith("sha256:") else self.tags.get(repository, {}).get(name))
        return (200, MANIFEST, found) if kind == "manifests" and found else (404, "", b"")

    def answer(self, request):
        needs_login = request.path.startswith("/v2/secret") and request.headers.get("Authorization") != LOGIN
        if needs_login:
            status, kind, body = 401, "", b""
        else:
            status, kind, body = self.find(request.path)
        request.send_response(status)
        if needs_login and status == 401:
            request.send_header("WWW-Authenticate", 'Basic realm="packages"')
        if kind == MANIFEST:
            request.send_header("Docker-Content-Digest", digest_of(body))
        if kind:
            request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)
