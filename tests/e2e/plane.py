"""A control plane for tests: `weft up` on a directory, and a client of its API that goes on when it is started again."""
import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
WEFT = os.environ["WEFT"]
GIVE_UP_S = 600


class Plane:
    """One `weft up` on a directory, started as often as needed."""

    def __init__(self, directory, *options):
        self.directory, self.options = directory, options
        self.process = None
        self.context = None
        self.host = None

    def start(self, *manifests):
        log = open(os.path.join(self.directory, "log"), "a")
        self.process = subprocess.Popen([WEFT, "up", "--data", os.path.join(self.directory, "data"), *self.options, *manifests],
                                        stdout=log, stderr=log)
        log.close()
        self.wait_until_served()

    def start_platform(self, *kinds, also=None):
        """Starts with the example platform and, if given, another directory, and waits until these kinds are served."""
        os.mkdir(self.directory)
        self.start(os.path.join(TOP, "examples/platform"), *([also] if also else []))
        client = Client(self)
        for path in kinds:
            while client.send("GET", path)[0] != 200:
                time.sleep(0.1)

    def wait_until_served(self):
        end = time.monotonic() + GIVE_UP_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError("weft up ended with status %d" % self.process.returncode)
            try:
                self.read_kubeconfig()
                status, _ = Client(self).once("GET", "/readyz")
                if status == 200:
                    return
            except (OSError, AttributeError, http.client.HTTPException):
                pass
            time.sleep(0.02)
        raise RuntimeError("weft up does not serve")

    def read_kubeconfig(self):
        if self.context:
            return
        text = open(os.path.join(self.directory, "data", "kubeconfig")).read()
        data = {k: base64.b64decode(re.search(r"%s: (\S+)" % k, text).group(1)).decode()
                for k in ("certificate-authority-data", "client-certificate-data", "client-key-data")}
        context = ssl.create_default_context(cadata=data["certificate-authority-data"])
        with tempfile.NamedTemporaryFile("w") as f:
            f.write(data["client-certificate-data"] + data["client-key-data"])
            f.flush()
            context.load_cert_chain(f.name)
        self.host = re.search(r"server: https://(\S+)", text).group(1)
        self.context = context

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def end(self):
        """Whatever state it is in."""
        if self.process and self.process.poll() is None:
            self.kill()


class Client:
    """Requests that are sent again until the server has answered them."""

    def __init__(self, plane):
        self.plane = plane
        self.connection = None

    def once(self, method, path, body=None, kind="application/json"):
        if not self.connection:
            self.connection = http.client.HTTPSConnection(self.plane.host, context=self.plane.context, timeout=30)
        try:
            self.connection.request(method, path, body=json.dumps(body) if body is not None else None,
                                    headers={"Content-Type": kind} if body is not None else {})
            r = self.connection.getresponse()
            return r.status, json.loads(r.read() or b"{}") if path != "/readyz" else r.read()
        except BaseException:
            self.connection.close()
            self.connection = None
            raise

    def send(self, method, path, body=None, kind="application/json"):
        end = time.monotonic() + GIVE_UP_S
        while time.monotonic() < end:
            try:
                status, answer = self.once(method, path, body, kind)
                if status not in (429, 500, 503, 504):
                    return status, answer
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.05)
        raise RuntimeError("%s %s was not answered" % (method, path))

    def items(self, path):
        status, answer = self.send("GET", path)
        if status != 200:
            raise RuntimeError("%s: %s" % (path, answer))
        return answer["items"]


class Tap:
    """Results as lines of TAP, problems as comments before them."""

    def __init__(self):
        self.number = self.failed = 0

    def report(self, name, problems):
        self.number += 1
        self.failed += bool(problems)
        for p in problems[:20]:
            print("#   %s" % p)
        print("%sok %d - %s" % ("not " if problems else "", self.number, name), flush=True)

    def end(self):
        print("1..%d" % self.number)
        return self.failed != 0
