#!/usr/bin/env python3
"""Takes the driver through the contract, at the toy cloud.

    contract.py DROVER_DRIVER_CHECK MYCLOUD.so
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# drover-driver-check takes a launcher's configuration; ZooKeeper is not asked.
CONFIG = '''
zookeeper-servers:
  - host: localhost
labels:
  - name: test-label
providers:
  - name: toy
    driver: mycloud
    url: http://127.0.0.1:PORT
    token: secret
    rate: 0
    pools:
      - name: main
        labels:
          - name: test-label
            size: large
'''


def main():
    check, driver = sys.argv[1:]
    with subprocess.Popen([sys.executable, '-B', f'{HERE}/toycloud.py'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as cloud, \
            tempfile.NamedTemporaryFile('w', suffix='.yaml') as config:
        port = cloud.stdout.readline().split()[1]
        config.write(CONFIG.replace('PORT', port))
        config.flush()
        done = subprocess.run([check, '--config', config.name, '--json', driver], check=False,
                              stdout=subprocess.PIPE, text=True)
        cloud.stdin.close()
    report = json.loads(done.stdout)
    for entry in report['checks']:
        print(entry['outcome'].ljust(7), entry['check'], entry['reason'] or '')
    return done.returncode


if __name__ == '__main__':
    sys.exit(main())
