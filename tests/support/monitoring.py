"""Checks the alert rules and the dashboard of packaging/monitoring.

    monitoring.py ROOT

promtool checks the rules, runs their tests, and checks the dashboard's expressions; every metric
that they and docs/monitoring.md name is one that a launcher exports.
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


def main():
    root = pathlib.Path(sys.argv[1])
    folder = root / 'packaging/monitoring'
    found = list(expressions(json.loads((folder / 'drover-dashboard.json').read_text())))
    good = [run('promtool', 'check', 'rules', folder / 'drover-alerts.yml'),
            run('promtool', 'test', 'rules', folder / 'drover-alerts-test.yml'),
            check_expressions(found)]
    known = exported(root)
    texts = [text for _, text in found]
    texts.append((folder / 'drover-alerts.yml').read_text())
    texts += re.findall(r'`(drover_[a-z_]+)`', (root / 'docs/monitoring.md').read_text())
    for name in sorted({SUFFIX.sub('', name) for text in texts for name in NAME.findall(text)}):
        if name not in known:
            print(f'{name} is not exported')
            good.append(False)
    documented = set(NAME.findall((root / 'docs/monitoring.md').read_text()))
    for name in sorted(known - documented):
        if name.startswith('drover_'):
            print(f'{name} is not in docs/monitoring.md')
            good.append(False)
    print(f'{len(found)} expressions, {len(known)} metrics looked at')
    return 0 if all(good) and found else 1


if __name__ == '__main__':
    sys.exit(main())
