"""The page for people in a real browser: with the keyboard alone, with the wishes that somebody has
told the system, at other sizes, and with many machines.

DROVER_TEST_PICTURES names a folder for pictures of what there was to see.
"""

import json
import os
import time
import unittest

import browser
from browser import Browser
from cloud import label, pool
from cloud_case import CloudCase
from http_site import Site

WEBAPP = {'port': 0, 'listen_address': '127.0.0.1'}
LINKS = ('pools', 'requests', 'machines', 'images', 'launchers')
# Of what has the focus: its id, or where it leads to.
FOCUS = 'document.activeElement.id || document.activeElement.hash || document.activeElement.tagName'
BUILD = '0123456789abcdef0123456789abcdef'

# The texts that are seen whose contrast with what is behind them is below 4.5, by WCAG 2.1.
LOW_CONTRASTS = '''(() => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => numbers(colour).slice(0, 3).map(one => one / 255)
        .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = element => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if (numbers(colour)[3] !== 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode.textContent.trim(), element = walk.currentNode.parentElement;
        if (!text || !element.checkVisibility() || element.closest('script, noscript')) continue;
        const pair = [light(getComputedStyle(element).color), light(behind(element))].sort();
        if ((pair[1] + 0.05) / (pair[0] + 0.05) < 4.5) found.push(text);
    }
    return found;
})()'''


@unittest.skipUnless(browser.is_there, 'needs chromium')
class InABrowser(CloudCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.stack.close)

    def setUp(self):
        super().setUp()
        self.browser.set_size(1280)
        self.browser.set_wishes(prefers_color_scheme='light', forced_colors='none')
        self.browser.events.clear()

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])
        self.browser.open('about:blank')
        super().tearDown()

    def look(self, **options):
        """A launcher whose pool is full, with a request that waits, and its page."""
        self.make_image()
        self.cloud.limits(cores=100, instances=50)
        launcher = self.start(pools=[pool(labels=[label('l')], max_servers=2, max_cores=8),
                                     pool('second', [label('m')])],
                              launcher={'webapp': WEBAPP, **options})
        self.first = self.submit('l')
        self.node_of(self.first)
        self.node_of(self.submit('l'))
        self.waiting = self.submit('l', requestor='zuul <b>')
        self.wait_for_paused()
        self.site = Site(launcher)
        self.browser.open(f'http://127.0.0.1:{self.site.port}/overview')
        self.browser.value('localStorage.clear()')
        self.browser.open(f'http://127.0.0.1:{self.site.port}/overview')
        self.browser.wait('document.querySelector("#waiting").innerText.includes("wait") && '
                          'document.querySelectorAll("#nodes tr").length >= 2 && '
                          'document.querySelector("#uploads").innerText.includes("ready")')
        self.browser.value('document.body.focus()')

    def make_image(self):
        path = f'/nodepool/images/debian-12/builds/{BUILD}'
        record = {'state': 'ready', 'state_time': time.time() - 90000, 'formats': ['qcow2'],
                  'builder': 'b'}
        self.client.create(path, json.dumps(record).encode(), makepath=True)
        self.client.create(f'{path}/providers/p/images/0000000001', json.dumps(
            {'state': 'ready', 'state_time': time.time() - 90000, 'external_id': 'x',
             'external_name': 'debian-12-1', 'format': 'qcow2'}).encode(), makepath=True)

    def picture(self, name, whole=True):
        if folder := os.environ.get('DROVER_TEST_PICTURES'):
            self.browser.picture(f'{folder}/{name}.png', whole)

    def change(self):
        """Something that the page tells of, seen there."""
        request = self.submit('m')
        node_id, = self.nodes_of(request)
        self.browser.wait(f'document.querySelector("#nodes").innerText.includes("{node_id}")')

    def focus(self):
        return self.browser.value(FOCUS)

    def stops(self, most=30, shift=False):
        """Where the focus is after each Tab, until it leaves the page; without a window around it, it
        comes in again on the other side."""
        found = []
        for _ in range(most):
            self.browser.press('Tab', shift=shift)
            place = self.focus()
            if place == 'BODY' or place in found and place != 'DIV':
                break
            found.append(place)
        return found


class Keyboard(InABrowser):
    def test_tab_reaches_everything_and_leaves_again(self):
        self.look()
        stops = self.stops()
        self.assertEqual(stops, ['#main', *(f'#{one}' for one in LINKS), 'filter', 'theme', 'keys'])
        self.browser.value('document.getElementById("keys").focus()')
        self.assertEqual(self.stops(shift=True)[:len(stops) - 1], stops[-2::-1])

    def test_focus_is_seen(self):
        self.look()
        for scheme in ('light', 'dark'):
            self.browser.set_wishes(prefers_color_scheme=scheme)
            for _ in range(9):
                self.browser.press('Tab')
                style, width, seen = self.browser.value('''(() => {
                    const element = document.activeElement, box = element.getBoundingClientRect();
                    const style = getComputedStyle(element);
                    return [style.outlineStyle, parseFloat(style.outlineWidth),
                            box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight &&
                            box.right <= innerWidth && box.width > 0];
                })()''')
                self.assertEqual((style, width >= 2, seen), ('solid', True, True), self.focus())
                if self.focus() == 'filter':
                    self.picture(f'focus-{scheme}')
            self.browser.press('Tab')

    def test_enter_and_space(self):
        self.look()
        for place in LINKS:
            self.browser.value(f'document.querySelector("nav a[href=\\"#{place}\\"]").focus()')
            self.browser.press('Enter')
            self.assertEqual(self.focus(), place)
        self.browser.value('document.getElementById("theme").focus()')
        for key, theme in ((' ', 'dark'), ('Enter', 'light')):
            self.browser.press(key)
            self.assertEqual(self.browser.value(
                '[document.documentElement.dataset.theme, '
                'document.getElementById("theme").getAttribute("aria-pressed")]'),
                [theme, str(theme == 'dark').lower()])
        self.browser.value('document.getElementById("keys").focus()')
        self.browser.press(' ')
        self.assertFalse(self.browser.value('document.getElementById("keys").checked'))
        self.assertEqual(self.focus(), 'keys')

    def test_nothing_is_lost_when_the_tables_change(self):
        """Neither the focus, nor what is typed, nor what is selected, nor where it is seen."""
        self.look()
        self.browser.set_size(1280, 300)
        self.browser.value('''(() => {
            const cell = document.querySelector("#nodes td");
            getSelection().selectAllChildren(cell);
            cell.scrollIntoView();
            window.before = [cell, cell.getBoundingClientRect().top];
            document.getElementById("theme").focus({preventScroll: true});
        })()''')
        self.change()
        text, stays, seen_there = self.browser.value('''[
            getSelection().toString(), window.before[0].isConnected,
            Math.abs(window.before[0].getBoundingClientRect().top - window.before[1]) < 2]''')
        self.assertEqual((text, stays, seen_there),
                         (self.browser.value('window.before[0].innerText'), True, True))
        self.assertEqual(self.focus(), 'theme')
        self.browser.press('/')
        self.browser.write('m')
        self.change()
        self.assertEqual((self.focus(), self.browser.value('document.activeElement.value')),
                         ('filter', 'm'))

    def test_filter(self):
        self.look()
        self.browser.press('/')
        self.assertEqual(self.focus(), 'filter')
        self.browser.press('t', 'r')  # no commands there
        self.assertEqual(self.browser.value('document.activeElement.value'), 'tr')
        self.browser.wait('document.querySelector("#nodes").innerText === "none"')
        self.assertEqual(self.browser.value('document.getElementById("shown").innerText'), '0 of 2')
        self.browser.press('Escape')
        self.assertEqual((self.focus(), self.browser.value('document.activeElement.value')),
                         ('filter', ''))
        self.browser.wait('document.querySelectorAll("#nodes tr").length === 2')
        self.browser.press('Escape')
        self.assertEqual(self.focus(), 'machines')

    def test_single_keys_and_without_them(self):
        self.look()
        for key, place in (('p', 'pools'), ('r', 'requests'), ('m', 'machines'), ('i', 'images'),
                           ('l', 'launchers'), ('/', 'filter')):
            self.browser.value('document.getElementById("theme").focus()')
            self.browser.press(key)
            self.assertEqual(self.focus(), place)
        self.browser.value('document.getElementById("keys").focus()')
        self.browser.press(' ')
        for _ in range(2):  # the second time after the page was loaded again
            self.browser.value('document.getElementById("theme").focus()')
            self.browser.press('r', 't', '/')
            self.assertEqual(self.focus(), 'theme')
            self.assertEqual(self.browser.value('document.documentElement.dataset.theme'), 'light')
            self.browser.open(f'http://127.0.0.1:{self.site.port}/overview')

    def test_names_and_roles(self):
        self.look()
        controls = [one for one in self.browser.controls() if one[0] != 'RootWebArea']
        names = {role: [name for other, name in controls if other == role]
                 for role, _ in controls}
        self.assertEqual(names['link'],
                         ['Skip to the content', *(one.capitalize() for one in LINKS)])
        self.assertEqual(names['searchbox'], ['Filter machines and requests'])
        self.assertEqual(names['button'], ['Dark'])
        self.assertEqual(names['checkbox'], ['Single keys:'])
        self.assertEqual(self.browser.value('''[...document.querySelectorAll("[role=meter]")]
            .map(one => [one.ariaLabel, one.ariaValueText, one.ariaValueNow])'''),
                         [['Nodes of p/main', '2 of 2', '2'], ['cores of p/main', '2 of 8', '2'],
                          ['cores of p', '2 of 100', '2'], ['instances of p', '2 of 50', '2'],
                          ['ram of p', '2048 of 1000000', '2048']])


class Wishes(InABrowser):
    def theme(self):
        return self.browser.value('document.documentElement.dataset.theme')

    def test_theme_follows_the_system_until_one_is_chosen(self):
        self.look()
        self.picture('light')
        self.browser.set_wishes(prefers_color_scheme='dark')
        self.browser.wait('document.documentElement.dataset.theme === "dark"')
        self.picture('dark')
        self.browser.set_wishes(prefers_color_scheme='light')
        self.browser.wait('document.documentElement.dataset.theme === "light"')
        self.browser.press('t')
        self.assertEqual(self.theme(), 'dark')
        self.browser.open(f'http://127.0.0.1:{self.site.port}/overview')
        self.assertEqual(self.theme(), 'dark')

    def test_contrasts_of_what_is_seen(self):
        self.look()
        self.browser.value('document.getElementById("who").className = "bad"')
        for scheme in ('light', 'dark'):
            self.browser.set_wishes(prefers_color_scheme=scheme)
            self.browser.wait(f'document.documentElement.dataset.theme === "{scheme}"')
            self.assertEqual(self.browser.value(LOW_CONTRASTS), [])

    def test_nothing_moves(self):
        """Neither for those who have asked for less motion, nor for others."""
        self.look()
        self.change()
        self.assertEqual(self.browser.value('document.getAnimations().length'), 0)
        self.assertEqual(self.browser.value('''[...document.querySelectorAll("*")].filter(one =>
            getComputedStyle(one).transitionDuration !== "0s" ||
            getComputedStyle(one).animationName !== "none" ||
            getComputedStyle(one).scrollBehavior !== "auto").length'''), 0)

    def test_colours_of_the_system(self):
        self.look()
        self.browser.set_wishes(forced_colors='active')
        self.picture('forced-colors')
        self.assertEqual(self.browser.value('''(() => {
            const bar = document.querySelector(".bar");
            return [getComputedStyle(bar).borderTopStyle, getComputedStyle(bar.firstChild)
                    .backgroundColor !== getComputedStyle(document.body).backgroundColor];
        })()'''), ['solid', True])


class Sizes(InABrowser):
    def assert_it_fits(self, name):
        self.picture(name)
        self.assertLessEqual(self.browser.value('document.scrollingElement.scrollWidth'),
                             self.browser.value('innerWidth'))
        self.assertEqual(self.browser.value('''[...document.querySelectorAll("nav *, label")]
            .filter(one => { const box = one.getBoundingClientRect();
                             return box.left < 0 || box.right > innerWidth; }).length'''), 0)

    def test_narrow(self):
        """320 px, where wide tables are scrolled by themselves, by the keyboard too."""
        self.look()
        self.browser.set_size(320)
        self.browser.wait('document.querySelector(".scroll[tabindex]")')
        self.assert_it_fits('narrow')
        stops = [stop for stop in self.stops(40) if stop == 'DIV']
        self.assertGreaterEqual(len(stops), 2)
        self.browser.value('''document.querySelector("#nodes").closest(".scroll").focus()''')
        self.browser.press('ArrowRight', 'ArrowRight')
        self.browser.wait('document.activeElement.scrollLeft > 0')
        self.assertEqual(self.browser.value('document.activeElement.getAttribute("role") + " " + '
                                            'document.activeElement.getAttribute("aria-labelledby")'),
                         'region machines')
        self.change()
        self.assertEqual(self.focus(), 'DIV')

    def test_zoomed(self):
        self.look()
        self.browser.set_size(1280, 1024, zoom=2)
        self.assert_it_fits('zoom-200')
        self.browser.set_size(1280, 1024, zoom=4)
        self.assert_it_fits('zoom-400')

    def test_controls_are_large_enough(self):
        """24 px each way, or apart from all others, as WCAG 2.2 wants it."""
        self.look()
        low = self.browser.value('''[...document.querySelectorAll("nav a, input, button, label")]
            .map(one => [one.id || one.hash || one.tagName, one.getBoundingClientRect().height])
            .filter(([_, height]) => height < 24)''')
        self.assertEqual([name for name, _ in low if name != 'keys'], [])


class Elsewhere(InABrowser):
    def test_launcher_whose_provider_is_ill(self):
        self.look()
        self.client.create('/nodepool/components/pool/far', json.dumps({
            'hostname': 'far', 'kind': 'pool', 'state': 'running', 'version': '11', 'id': 'far-id',
            'name': 'main', 'provider_name': 'q', 'supported_labels': ['l'], 'priority': 100,
            'paused': True, 'problem': 'its driver is <gone>'}).encode(), ephemeral=True)
        self.browser.wait('document.getElementById("registered").innerText'
                          '.includes("far\\t11\\tq\\tmain\\tunhealthy: its driver is <gone>")')


class Many(InABrowser):
    COUNT = 1500

    def look_without_list(self, text, total):
        """The list of all cannot be had: the page says so, and asks again by itself."""
        shown = 'document.getElementById("shown")'
        self.browser.call('Network.enable')
        self.addCleanup(self.browser.call, 'Network.disable')
        self.browser.call('Network.setBlockedURLs', urls=['*/node-list'])
        self.browser.press('Escape')
        self.browser.write(text)
        self.browser.wait(f'{shown}.innerText.endsWith("The other {total - 1000} machines are not '
                          f'known now.") && {shown}.className === "bad"')
        self.browser.call('Network.setBlockedURLs', urls=[])
        self.browser.wait(f'{shown}.innerText === "1 of {total}" && {shown}.className === "dim"')

    def test_more_than_are_told(self):
        """All are counted, and the filter finds each."""
        record = {'state': 'ready', 'provider': 'elsewhere', 'pool': 'far', 'type': ['x'],
                  'state_time': time.time()}
        records = [{**record, 'hostname': f'machine-{number:05}'} for number in range(self.COUNT)]
        del records[0]['state_time']  # who wrote it does not say since when
        self.client.ensure_path('/nodepool/nodes')
        transaction = self.client.transaction()
        for number, one in enumerate(records):
            transaction.create(f'/nodepool/nodes/{5000000 + number:010}', json.dumps(one).encode())
            if number % 500 == 499:
                transaction.commit()
                transaction = self.client.transaction()
        self.look()
        total = self.COUNT + 2
        self.browser.wait(f'document.getElementById("shown").innerText.includes("of {total}")')
        self.assertEqual(self.browser.value('document.querySelectorAll("#nodes tr").length'), 1000)
        self.assertIn(f'{self.COUNT + 2}', self.browser.value(
            'document.getElementById("states").innerText'))
        self.assertIn('2 of 2 nodes', self.browser.value(
            'document.getElementById("providers").innerText'))
        self.picture('many', whole=False)
        self.browser.press('/')
        for number in (0, self.COUNT // 2, self.COUNT - 1):
            self.browser.value('document.activeElement.value = ""')
            self.browser.write(f'machine-{number:05}')
            self.browser.wait(f'document.getElementById("shown").innerText === "1 of {total}" && '
                              f'document.getElementById("nodes").innerText.includes('
                              f'"machine-{number:05}")')
        self.look_without_list(f'machine-{number:05}', total)
        took = self.browser.value('''(() => {
            const began = performance.now();
            document.getElementById("filter").value = "";
            for (let i = 0; i < 10; i++) show();
            return (performance.now() - began) / 10;
        })()''')
        self.assertLess(took, 500, 'milliseconds for one event')


if __name__ == '__main__':
    unittest.main()
