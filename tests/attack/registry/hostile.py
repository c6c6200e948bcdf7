"""A hostile registry on loopback: images of any shape, each repository with the manners that its case gives it. Hosts named `*.example` are
reached through its proxy, over TLS; everything that comes is noted."""

import gzip
import hashlib
import http.server
import io
import json
import re
import ssl
import struct
import tarfile
import threading
import time
import zlib

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
PIECE = 64 << 10
PACKAGE = b"{apiVersion: meta.pkg.crossplane.io/v1, kind: %b, metadata: {name: hostile}}\n"


# --- Content ---

class Blob:
    """Bytes in memory, or a generator of pieces that is run anew for every reader."""

    def __init__(self, content):
        self.pieces = content if callable(content) else lambda: [content]
        hashed, self.size = hashlib.sha256(), 0
        for piece in self.pieces():
            hashed.update(piece)
            self.size += len(piece)
        self.digest = "sha256:" + hashed.hexdigest()

    def descriptor(self, media_type, **more):
        return {"mediaType": media_type, "digest": self.digest, "size": self.size, **more}


def json_blob(value):
    return Blob(json.dumps(value, separators=(",", ":")).encode())


def tar_of(*entries):
    """Entries are (name, content), with bytes, or (name, type, link), with texts."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content, *link in entries:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content.encode(), link[0] if link else ""
                tar.addfile(info)
    return raw.getvalue()


def zipped(tar):
    return Blob(gzip.compress(tar, compresslevel=1, mtime=0))


def header(name, size):
    """Of a file of any size, whose content comes from somewhere else."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def gzip_bomb(name, size):
    """A file of zeros: its members are one that repeats."""
    zeros = gzip.compress(bytes(16 << 20), mtime=0)
    head = gzip.compress(header(name, size), mtime=0)

    def pieces():
        yield head
        for _ in range(size >> 24):
            yield zeros
    return Blob(pieces)


def zstd_frame(window, *blocks):
    """A frame of raw blocks (bytes) and of blocks that repeat a byte (a count)."""
    out = struct.pack("<IBB", 0xFD2FB528, 0, (window - 10) << 3)
    for i, b in enumerate(blocks):
        is_last, is_raw = i + 1 == len(blocks), isinstance(b, bytes)
        n = len(b) if is_raw else b
        out += struct.pack("<I", is_last | (0 if is_raw else 2) | n << 3)[:3] + (b if is_raw else b"\0")
    return out


def zstd_bomb(name, size):
    return Blob(zstd_frame(17, header(name, size), *[128 << 10] * (size >> 17)))


def many_entries(count, kind=b"0", names=1 << 30):
    """A tar of empty files, or of other things, with so many names."""
    base = bytearray(header("entry-000000000", 0))
    base[156:157] = kind
    base[148:156] = b" " * 8
    total = sum(base) - sum(b"000000000")
    before, behind, rest = bytes(base[:6]), bytes(base[15:148]), bytes(base[156:])
    ascii_sum = [sum(b"%03d" % i) for i in range(1000)]

    def pieces():
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        for thousand in range(count // 1000):
            high = b"%06d" % (thousand % max(names // 1000, 1))
            upper = total + sum(high)
            block = b"".join([b"%b%b%03d%b%06o\0 %b" % (before, high, i, behind, upper + ascii_sum[i], rest) for i in range(1000)])
            yield packer.compress(block)
        yield packer.flush()
    return Blob(b"".join(pieces()))


# --- Images ---

class Image:
    """A manifest and its blobs. The first layer has package.yaml unless `bare`."""

    def __init__(self, *layers, bare=False, kind=b"Function"):
        package = tar_of(("package.yaml", PACKAGE % kind))
        self.layers = list(layers) if bare else [zipped(package), *layers]
        diff_ids = ["sha256:" + hashlib.sha256(package).hexdigest()] + ["sha256:" + "0" * 64] * len(self.layers)
        described = [layer.descriptor(LAYER) for layer in self.layers]
        if not bare:
            described[0]["annotations"] = {"io.crossplane.xpkg": "base"}
        self.config = json_blob({"os": "linux", "architecture": "amd64", "config": {"Entrypoint": ["/function"]},
                                 "rootfs": {"type": "layers", "diff_ids": diff_ids[bare:][:len(self.layers)]}})
        self.manifest = json_blob({"schemaVersion": 2, "mediaType": MANIFEST, "config": self.config.descriptor(CONFIG),
                                   "layers": described})
        self.manifests = {self.manifest.digest: self.manifest}
        self.top, self.blobs = self.manifest, {b.digest: b for b in [self.config, *self.layers]}


def renamed(image, **members):
    """The image with other members of its manifest."""
    old = json.loads(b"".join(image.manifest.pieces()))
    image.manifest = image.top = json_blob({**old, **members})
    image.manifests = {image.manifest.digest: image.manifest}
    image.blobs[image.config.digest] = image.config
    return image


# --- Serving ---

class Registry:
    """`images` by repository; `manners` by repository: a function of the request's handler that answers it and returns True, or does not."""

    def __init__(self, certificate):
        self.images, self.manners, self.seen, self.lock = {}, {}, [], threading.Lock()
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(*certificate)
        self.main, self.other, self.proxy = (self.listen(name) for name in ("main", "other", "proxy"))

    def listen(self, name):
        registry = self

        class Handler(Request):
            pass

        Handler.registry, Handler.place = registry, name
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda *a: None  # clients that close connections are no news
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return "127.0.0.1:%d" % server.server_address[1]

    def note(self, place, host, request):
        with self.lock:
            self.seen.append((place, host, request.command, request.path, request.headers.get("Authorization", "")))

    def saw(self, **wanted):
        names = ("place", "host", "method", "path", "authorization")
        with self.lock:
            return [s for s in self.seen if all(re.search(v, s[names.index(k)]) for k, v in wanted.items())]


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host = ""

    def log_message(self, *a):
        pass

    def do_CONNECT(self):
        """The proxy: whoever is asked for answers here, with a certificate for every `.example`."""
        self.registry.note("connect", self.path, self)
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        self.host = self.path.rsplit(":", 1)[0]
        self.request = self.registry.tls.wrap_socket(self.connection, server_side=True)
        self.setup()
        self.close_connection = False
        while not self.close_connection:
            self.handle_one_request()
        self.close_connection = True

    def do_GET(self):
        self.registry.note(self.place, self.host, self)
        path = self.path.split("?")[0]
        found = re.fullmatch(r"/v2/(.+)/(manifests|blobs|tags)/([^/]+)", path)
        self.repository, self.kind, self.name = found.groups() if found else ("", "", path)
        owner = self.repository or path.strip("/").split("/")[-1]
        try:
            manner = self.registry.manners.get(owner)
            if not (manner and manner(self)):
                self.answer()
        except OSError:  # the client has gone
            self.close_connection = True

    do_HEAD = do_POST = do_GET

    def answer(self):
        image = self.registry.images.get(self.repository)
        if not image:
            return self.say(200 if self.path == "/v2/" else 404, b"{}")
        if self.kind == "manifests":
            found = image.manifests.get(self.name, None if self.name.startswith("sha256:") else image.top)
            return self.send(found, json.loads(b"".join(found.pieces())).get("mediaType", MANIFEST)) if found else self.say(404)
        if self.kind == "blobs" and self.name in image.blobs:
            return self.send(image.blobs[self.name], "application/octet-stream")
        return self.say(404)

    def say(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def begin(self, size, media_type="application/octet-stream", status=200, **fields):
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if size is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def send(self, blob, media_type):
        fields = {"Docker_Content_Digest": blob.digest} if self.kind == "manifests" else {}
        self.begin(blob.size, media_type, **fields)
        if self.command != "HEAD":
            for piece in blob.pieces():
                self.wfile.write(piece)

    def is_get(self, kind):
        return self.kind == kind and self.command == "GET"


# --- Manners: each is made for a kind of request and lets the others be answered honestly ---

def wrong(q):
    """The last byte of every blob is another one."""
    if not q.is_get("blobs"):
        return False
    whole = b"".join(q.registry.images[q.repository].blobs[q.name].pieces())
    q.say(200, whole[:-1] + bytes([whole[-1] ^ 1]))
    return True


def truncated(kind, keep):
    """The length is right, and the connection is lost: what is asked for again is cut at the same place."""
    def manner(q):
        image = q.registry.images[q.repository]
        blob = {**image.blobs, **image.manifests}.get(q.name, image.top)
        if not q.is_get(kind) or blob.size <= keep:
            return False
        q.begin(blob.size, MANIFEST if kind == "manifests" else "application/octet-stream")
        q.wfile.write(b"".join(blob.pieces())[:keep])
        q.close_connection = True
        return True
    return manner


def grudging(step):
    """Each request for a blob gets a few bytes more, and then the connection is lost."""
    def manner(q):
        if not q.is_get("blobs"):
            return False
        blob = q.registry.images[q.repository].blobs[q.name]
        if blob.size <= 4 * step:
            return False
        start = int(q.headers.get("Range", "bytes=0-")[6:-1])
        q.begin(blob.size - start, status=206 if start else 200, Content_Range="bytes %d-%d/%d" % (start, blob.size - 1, blob.size))
        q.wfile.write(b"".join(blob.pieces())[start:start + step])
        q.close_connection = True
        return True
    return manner


def endless(kind, filler=b"\0" * PIECE, limit=8 << 30):
    def manner(q):
        if not q.is_get(kind):
            return False
        q.begin(None, MANIFEST if kind == "manifests" else "application/json" if kind == "tags" else "application/octet-stream")
        for _ in range(limit // len(filler)):
            q.wfile.write(filler)
        return True
    return manner


def trickling(kind, at_least=0):
    """A byte now and then, for as long as the client likes."""
    def manner(q):
        image = q.registry.images[q.repository]
        blob = {**image.blobs, **image.manifests}.get(q.name, image.top)
        if not q.is_get(kind) or blob.size < at_least:
            return False
        q.begin(blob.size, MANIFEST if kind == "manifests" else "application/octet-stream")
        for byte in b"".join(blob.pieces()):
            q.wfile.write(bytes([byte]))
            q.wfile.flush()
            time.sleep(1)
        return True
    return manner


def redirecting(location):
    """Blobs are somewhere else."""
    def manner(q):
        if q.kind != "blobs" or not q.registry.images[q.repository].blobs.get(q.name) or q.path.endswith("?moved"):
            return False
        q.say(307, Location=location(q))
        return True
    return manner


def asking(realm, scope="registry:catalog:*", then=None):
    """A login by token: whoever comes with the token of the token server is served."""
    def manner(q):
        if q.headers.get("Authorization") == "Bearer good":
            return then(q) if then else False
        q.say(401, WWW_Authenticate='Bearer realm="%s",service="hostile",scope="%s"' % (realm(q), scope))
        return True
    return manner


def basic(then=None):
    def manner(q):
        if q.headers.get("Authorization", "").startswith("Basic ") or q.path.endswith("?moved"):
            return then(q) if then else False
        q.say(401, WWW_Authenticate='Basic realm="hostile"')
        return True
    return manner


def token_server(q):
    q.say(200, b'{"token":"good","scope":"registry:catalog:*","expires_in":300}', Content_Type="application/json")
    return True
