"""A Debian 12 with nothing in it but what apt cannot do without, in a folder.

    with CleanRoot() as root:
        root.set_source('build/packages')
        root.apt('install', 'drover-launcher')
        root.run('drover', 'config-validate')

Made by debootstrap from the mirror that this machine's apt uses, so it needs root. DROVER_CLEAN_ROOT
may name an archive of such a folder instead, which saves minutes. Nothing stays mounted: each command
has mounts of its own. The network is this machine's.
"""

import os
import shutil
import subprocess
import tempfile

SUITE = 'bookworm'
# What stands for the service manager when maintainer scripts ask for it: it notes what it was told.
SYSTEMCTL = '''#!/bin/sh
echo "$@" >>/srv/systemctl-calls
'''


def mirror():
    """Where apt gets this suite from."""
    sites = subprocess.run(
        ['apt-get', 'indextargets', '--format', '$(SITE)', 'Created-By: Packages',
         f'Codename: {SUITE}'], check=True, capture_output=True, text=True).stdout.split()
    if not sites:
        raise RuntimeError(f'apt has no source of {SUITE}')
    return sites[0]


class CleanRoot:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='drover-test-')
        os.chmod(self.folder, 0o755)
        os.makedirs(self.path('/srv'))

    def __enter__(self):
        archive = os.environ.get('DROVER_CLEAN_ROOT')
        try:
            if archive:
                subprocess.run(['tar', '-C', self.folder, '-xf', archive], check=True)
            else:
                subprocess.run(['debootstrap', '--variant=minbase', SUITE, self.folder, mirror()],
                               check=True, stdout=subprocess.DEVNULL)
        except BaseException:
            self.__exit__()
            raise
        self.write('/srv/systemctl', SYSTEMCTL, mode=0o755)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    # ---- Files ----

    def path(self, name):
        return self.folder + name

    def read(self, name):
        with open(self.path(name), encoding='utf-8') as file:
            return file.read()

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8') as out:
            out.write(text)
        os.chmod(self.path(name), mode)

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def find(self, *words):
        """Paths whose last part has one of the words."""
        return sorted(os.path.join(folder, name)[len(self.folder):]
                      for folder, folders, files in os.walk(self.folder)
                      for name in folders + files if any(word in name for word in words))

    # ---- Programs ----

    def with_mounts(self, *words, managed=False):
        """The words that run a program of this machine, for which the root has its mounts.

        `managed`: as if systemd ran there; what it is told is in systemctl_calls().
        """
        mounts = [f'mount -t proc proc {self.folder}/proc']
        if managed:
            mounts += [f'mount -t tmpfs tmpfs {self.folder}/run',
                       f'mkdir -p {self.folder}/run/systemd/system',
                       f'mount --bind {self.folder}/srv/systemctl {self.folder}/bin/systemctl']
        mounts.append('exec "$@"')
        return ['unshare', '--mount', 'sh', '-c', ' && '.join(mounts), 'sh', *words]

    def command(self, *words, user=None, managed=False):
        """The words that run a program in the root. The process started is the program's own."""
        account = ['--userspec', f'{user}:{user}'] if user else []
        return self.with_mounts('chroot', *account, self.folder, *words, managed=managed)

    def run(self, *words, check=True, **options):
        """The finished process; its output is text, standard error and output in one."""
        return self.run_here(*self.command(*words, **options), check=check)

    @staticmethod
    def run_here(*words, check=True):
        """The same of a program of this machine."""
        done = subprocess.run(
            words, check=False, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C.UTF-8', 'HOME': '/root',
                 'DEBIAN_FRONTEND': 'noninteractive'})
        if check and done.returncode != 0:
            raise RuntimeError(f'{" ".join(words)}: {done.returncode}\n{done.stdout}')
        return done

    def systemctl_calls(self):
        """What systemctl was told since it was asked for last."""
        name = '/srv/systemctl-calls'
        if not self.exists(name):
            return []
        calls = self.read(name).splitlines()
        os.remove(self.path(name))
        return calls

    # ---- Packages ----

    def set_source(self, folder):
        """Packages come from this folder, too, which has an index."""
        shutil.rmtree(self.path('/srv/packages'), ignore_errors=True)
        shutil.copytree(folder, self.path('/srv/packages'))
        self.write('/etc/apt/sources.list.d/packages.list',
                   'deb [trusted=yes] file:/srv/packages ./\n')
        self.apt('update')

    def apt(self, *words, managed=False):
        """Without recommended packages, unless the words say so."""
        return self.run('apt-get', '-q', '-y', '-o', 'APT::Install-Recommends=false', *words,
                        managed=managed).stdout
