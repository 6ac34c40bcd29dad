"""Checks the alert rules and the dashboard of packaging/monitoring.

    monitoring.py ROOT

promtool checks the rules, runs their tests, and checks the dashboard's expressions; every metric
that they and docs/monitoring.md name is one that a launcher exports. And what it exports of its own
is in docs/monitoring.md, and is seen in the dashboard, or watched by an alert.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

VARIABLES = {'$__rate_interval': '5m', '$provider': '.*', '$job': 'drover'}
NAME = re.compile(r'\b(?:drover|process)_[a-z_]+\b')
SUFFIX = re.compile(r'_(bucket|sum|count)$')


def expressions(dashboard):
    for panel in dashboard['panels']:
        for target in panel.get('targets', []):
            text = target['expr']
            for variable, value in VARIABLES.items():
                text = text.replace(variable, value)
            yield f'{panel["title"]}: {target["refId"]}', text


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep='')
    return done.returncode == 0


def check_expressions(found):
    rules = [{'record': f'dashboard:{index}', 'expr': text}
             for index, (_, text) in enumerate(found)]
    with tempfile.NamedTemporaryFile('w', suffix='.yml') as file:
        json.dump({'groups': [{'name': 'dashboard', 'rules': rules}]}, file)
        file.flush()
        return run('promtool', 'check', 'rules', file.name)


def exported(root):
    sources = (root / 'core/launcher/telemetry/families.c', root / 'core/metrics/process.c',
               root / 'core/web/traffic.c')
    return {name for source in sources
            for name in re.findall(r'"((?:drover|process)_[a-z_]+)"', source.read_text())}


def names(*texts):
    return {SUFFIX.sub('', name) for text in texts for name in NAME.findall(text)}


def main():
    root = pathlib.Path(sys.argv[1])
    folder = root / 'packaging/monitoring'
    dashboard = json.loads((folder / 'drover-dashboard.json').read_text())
    found = list(expressions(dashboard))
    good = [run('promtool', 'check', 'rules', folder / 'drover-alerts.yml'),
            run('promtool', 'test', 'rules', folder / 'drover-alerts-test.yml'),
            check_expressions(found)]
    known = exported(root)
    document = (root / 'docs/monitoring.md').read_text()
    seen = names(json.dumps(dashboard), (folder / 'drover-alerts.yml').read_text())
    named = names(*re.findall(r'`(drover_[a-z_]+)`', document))
    own = {name for name in known if name.startswith('drover_')}
    for wrong, what in (((seen | named) - known, 'is not exported'),
                        (own - names(document), 'is not in docs/monitoring.md'),
                        (own - seen, 'is neither in the dashboard nor in an alert')):
        for name in sorted(wrong):
            print(name, what)
            good.append(False)
    print(f'{len(found)} expressions, {len(known)} metrics looked at')
    return 0 if all(good) and found else 1


if __name__ == '__main__':
    sys.exit(main())
