"""A real browser, Debian's chromium without a window, as somebody with a keyboard uses it.

    with Browser() as browser:
        browser.open('http://127.0.0.1:8005/overview')
        browser.wait('document.querySelectorAll("tr").length > 1')
        browser.press('Tab')
        browser.value('document.activeElement.id')

It is spoken to by its DevTools protocol: JSON objects, each ended by a zero byte, over two pipes.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from zookeeper import die_with_parent

LIMIT = 60  # seconds
PROGRAM = ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
           '--no-first-run', '--disable-background-networking', '--remote-debugging-pipe']
# Name -> (code, number, what it writes).
KEYS = {'Tab': ('Tab', 9, ''), 'Enter': ('Enter', 13, '\r'), 'Escape': ('Escape', 27, ''),
        ' ': ('Space', 32, ' '), '/': ('Slash', 191, '/'), 'ArrowRight': ('ArrowRight', 39, ''),
        'ArrowDown': ('ArrowDown', 40, '')}
SHIFT = 8

is_there = shutil.which('chromium') is not None


def key_of(name):
    return KEYS.get(name) or (f'Key{name.upper()}', ord(name.upper()), name)


class Browser:
    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.last_id = 0
        self.events = []
        self.unread = b''
        try:
            self._start()
        except BaseException:
            self.stack.close()
            raise

    def _pipe(self):
        """Two descriptors that are none of those that the browser has them as."""
        ends = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 16) for end in ends]
        for end in ends:
            os.close(end)
        for end in high:
            self.stack.callback(os.close, end)
        return high

    def _start(self):
        folder = self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix='drover-test-', ignore_cleanup_errors=True))
        (theirs_in, self.out), (self.input, theirs_out) = self._pipe(), self._pipe()

        def prepare():
            die_with_parent()
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        log = self.stack.enter_context(open(f'{folder}/log', 'wb'))
        self.process = subprocess.Popen(
            [*PROGRAM, f'--user-data-dir={folder}', 'about:blank'], stdout=log, stderr=log,
            pass_fds=(3, 4), preexec_fn=prepare)
        self.stack.callback(self._end)
        self.session = None
        targets = self.call('Target.getTargets')['targetInfos']
        page = next(one for one in targets if one['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=page['targetId'],
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Accessibility'):
            self.call(f'{domain}.enable')

    def _end(self):
        self.session = None
        with contextlib.suppress(OSError, AssertionError):
            self.call('Browser.close')
        self.process.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    # ---- The protocol ----

    def _read(self, deadline):
        while b'\0' not in self.unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise AssertionError('the browser does not answer')
            part = os.read(self.input, 1 << 20)
            if not part:
                raise AssertionError('the browser is gone')
            self.unread += part
        text, _, self.unread = self.unread.partition(b'\0')
        return json.loads(text)

    def call(self, method, **parameters):
        self.last_id += 1
        message = {'id': self.last_id, 'method': method, 'params': parameters}
        if self.session is not None:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + LIMIT
        while (answer := self._read(deadline)).get('id') != self.last_id:
            self.events.append(answer)
        if 'error' in answer:
            raise AssertionError(f'{method}: {answer["error"]}')
        return answer['result']

    # ---- The page ----

    def open(self, url):
        self.call('Page.navigate', url=url)
        self.wait('document.readyState === "complete"')

    def value(self, expression):
        """Of a JavaScript expression, or of a promise."""
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            raise AssertionError(result['exceptionDetails'])
        return result['result'].get('value')

    def wait(self, expression, limit=LIMIT):
        """Until it holds."""
        found = self.value(f'''new Promise(done => {{
            const until = performance.now() + {1000 * limit};
            const look = () => {{
                const found = Boolean({expression});
                if (found || performance.now() > until) done(found);
                else setTimeout(look, 20);
            }};
            look();
        }})''')
        if not found:
            raise AssertionError(f'it does not happen: {expression}\n'
                                 f'{self.value("document.body.innerText")}')

    def errors(self):
        """What the page's scripts have thrown or complained of."""
        self.value('1')
        return [event['params'] for event in self.events
                if event.get('method') in ('Runtime.exceptionThrown', 'Runtime.consoleAPICalled')]

    def press(self, *names, shift=False):
        for name in names:
            code, number, text = key_of(name)
            common = {'key': name, 'code': code, 'windowsVirtualKeyCode': number,
                      'modifiers': SHIFT if shift else 0}
            self.call('Input.dispatchKeyEvent', type='keyDown', text=text, **common)
            self.call('Input.dispatchKeyEvent', type='keyUp', **common)

    def write(self, text):
        self.call('Input.insertText', text=text)

    def set_size(self, width, height=800, zoom=1):
        """`width` and `height` in pixels of a page that is not zoomed."""
        self.call('Emulation.setDeviceMetricsOverride', width=int(width / zoom),
                  height=int(height / zoom), deviceScaleFactor=zoom, mobile=False)

    def set_wishes(self, **features):
        """What the person has asked the system for: prefers_color_scheme='dark', say."""
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': name.replace('_', '-'), 'value': value} for name, value in features.items()])

    def picture(self, path, whole=True):
        data = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=whole)['data']
        with open(path, 'wb') as out:
            out.write(base64.b64decode(data))

    def controls(self):
        """(role, name) of what can have the focus, as assistive programs are told."""
        nodes = self.call('Accessibility.getFullAXTree')['nodes']
        return [(node['role']['value'], node.get('name', {}).get('value', '')) for node in nodes
                if any(one['name'] == 'focusable' and one['value'].get('value')
                       for one in node.get('properties', []))]
