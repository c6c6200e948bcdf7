#!/usr/bin/env python3
"""Makes an image of 300 MB as an OCI layout: image.py DIRECTORY. Layers: large files that do not compress, as programs that are packed; text, which does;
many small files; and programs as they are, in between."""

import gzip
import hashlib
import io
import json
import os
import random
import sys
import tarfile

MB = 1000000
chance = random.Random(1)
words = [bytes(chance.choices(b"abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 11))) for _ in range(5000)]


def text(size):
    return b" ".join(chance.choices(words, k=size // 7))[:size]


def mixed(size):
    """Half of it is noise, as in machine code."""
    return b"".join(chance.randbytes(100) + text(100) for _ in range(size // 200))


def layer(files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o644
            tar.addfile(info, io.BytesIO(content))
    return raw.getvalue()


def put(directory, content, media_type):
    digest = hashlib.sha256(content).hexdigest()
    with open(f"{directory}/blobs/sha256/{digest}", "wb") as f:
        f.write(content)
    return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(content)}


def main():
    directory = sys.argv[1]
    os.makedirs(directory + "/blobs/sha256")
    small = [text(5000) for _ in range(100)]
    contents = [
        [(f"noise/{i}", chance.randbytes(20 * MB)) for i in range(5)],
        [(f"text/{i}", text(10 * MB)) for i in range(10)],
        [(f"small/{i // 100}/{i}", small[i % 100]) for i in range(10000)],
        [(f"mixed/{i}", mixed(10 * MB)) for i in range(5)],
    ]
    tars = [layer(files) for files in contents]
    layers = [put(directory, gzip.compress(tar, compresslevel=6, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip") for tar in tars]
    config = put(directory, json.dumps({"os": "linux", "architecture": "amd64", "config": {}, "rootfs": {
        "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest() for tar in tars]}}).encode(), "application/vnd.oci.image.config.v1+json")
    manifest = put(directory, json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
                                          "layers": layers}).encode(), "application/vnd.oci.image.manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "v1"}
    for name, value in (("index.json", {"schemaVersion": 2, "manifests": [manifest]}), ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(f"{directory}/{name}", "w") as f:
            json.dump(value, f)
    print(sum(len(tar) for tar in tars) // MB, sum(each["size"] for each in layers) // MB, len(layers))


main()
