"""A headless Chromium, driven over a pair of pipes (DevTools protocol), with nothing but the standard library."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "--window-size=1280,760",
]
INSTALL = "const m = await import('@sparticuz/chromium'); console.log(await m.default.executablePath());"


def find_chromium(folder):
    """Path of a Chromium (Debian's, or one that npm puts into `folder`), and None; or None and why there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found, None
    if not (shutil.which("npm") and shutil.which("node")):
        return None, "no chromium on the path and no npm to fetch one (apt-get install chromium)"
    try:
        subprocess.run(
            ["npm", "install", "--no-save", "@sparticuz/chromium"],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=180,
        )
        asked = subprocess.run(
            ["node", "--input-type=module", "-e", INSTALL], cwd=folder, check=True, capture_output=True, text=True,
            timeout=60, env={**os.environ, "TMPDIR": str(folder)},
        )  # fmt: skip
        subprocess.run([asked.stdout.strip(), "--version"], check=True, capture_output=True, timeout=60)
    except (subprocess.SubprocessError, OSError) as error:
        return None, f"no chromium on the path, and npm could not fetch one that runs: {error}"
    return asked.stdout.strip(), None


class Browser:
    """One tab. `errors` collects errors and warnings of the console, `requests` the addresses that were asked for."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        # Chromium reads from descriptor 3 and writes to 4.
        shell = f'exec "$@" 3<&{read_there} 4>&{write_there}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command], pass_fds=(read_there, write_there),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(read_there)
        os.close(write_there)
        self.read, self.write = read_here, write_here
        self.buffer, self.count, self.session = b"", 0, None
        self.errors, self.requests = [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Send a command and wait for its answer."""
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while True:
            answer = self._next(end)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _next(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(end - time.monotonic(), 0))
            data = os.read(self.read, 1 << 16) if ready else b""
            if not data:
                raise TimeoutError("Chromium does not answer.")
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, about):
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(about["args"])[:500])
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            text = about["entry"]["text"]
            if "GPU stall due to ReadPixels" not in text:  # what taking a picture costs without a graphics card
                self.errors.append(text)
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def open(self, address, wait="document.documentElement?.dataset.ready === 'yes'"):
        """Go to a page and wait until it says that it is drawn; returns the seconds this took."""
        begin = time.monotonic()
        self.call("Page.navigate", url=address)
        while time.monotonic() - begin < 60:
            if self.run(wait):
                return time.monotonic() - begin
            time.sleep(0.02)
        raise TimeoutError(f"{address} was not drawn in a minute; errors: {self.errors}")

    def run(self, code):
        """The value of an expression of the page (a promise is waited for)."""
        found = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", code))
        return found["result"].get("value")

    def slide(self, name, value):
        """Move a slider as a hand would, and wait until the page is drawn again."""
        self.run(
            f"new Promise((done) => {{ const s = document.getElementById('{name}'); s.value = {value};"
            "s.dispatchEvent(new Event('input', { bubbles: true }));"
            "requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))); })"
        )

    def picture(self):
        """What the tab shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.session = None
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.profile, ignore_errors=True)
