"""What is said of a configuration never shows what is secret in it."""

import unittest

from cloud import Cloud
from launcher_case import LauncherCase

SECRET = 'secret-of-the-test'


class Secrets(LauncherCase):
    def test_FT_16_wrong_configuration(self):
        """Which option is wrong is said, and not what stands there."""
        provider = Cloud().provider('p')
        for value in ([SECRET], {SECRET: SECRET}, {'a': [SECRET]}):
            launcher = self.launcher({**provider, 'token': value}, start=False)
            launcher.start()
            launcher.wait_for_log('p.*token.*must be')
            self.assertEqual(launcher.find_log(SECRET), [])
            launcher.kill()
        self.launchers.clear()


if __name__ == '__main__':
    unittest.main(verbosity=2)
