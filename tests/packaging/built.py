"""The packages of what is committed, built when they are asked for first.

DROVER_PACKAGES may name a folder that has them already, as these leave them:

    packaging/build-deb --next FOLDER/next FOLDER/first
    packaging/build-rpm --nodeps --next FOLDER/rpm-next FOLDER/rpm
"""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@functools.cache
def folder():
    given = os.environ.get('DROVER_PACKAGES')
    if given:
        return given
    made = tempfile.mkdtemp(prefix='drover-test-')
    atexit.register(shutil.rmtree, made)
    return made


def build(script, *words):
    done = subprocess.run([f'{TOP}/packaging/{script}', *words], check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f'{script} failed:\n{done.stdout[-4000:]}')


@functools.cache
def debian():
    """The folders of the packages, and of the same ones with a higher version."""
    first, following = f'{folder()}/first', f'{folder()}/next'
    if not os.path.exists(first):
        build('build-deb', '--next', following, first)
    return first, following


@functools.cache
def rpm():
    """The folders of the RPM packages, and of the same ones with a higher release."""
    first, following = f'{folder()}/rpm', f'{folder()}/rpm-next'
    if not os.path.exists(first):
        build('build-rpm', '--nodeps', '--next', following, first)
    return first, following


def lintian(*words):
    """Its exit code, and what it says."""
    done = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error,warning', *words],
                          check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout
