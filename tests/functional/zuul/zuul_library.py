"""Zuul's own code about nodes, taken from the sources that DROVER_ZUUL names.

It imports much that it does not need for this; what of that is not installed is stood in for.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from unittest import mock

STOOD_IN_FOR = [name for name in ('grpc', 'jsonpath_rw', 'opentelemetry', 're2')
                if importlib.util.find_spec(name) is None]


class StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of which everything can be had, and nothing is real."""

    def find_spec(self, name, _path, _target=None):
        if name.partition('.')[0] in STOOD_IN_FOR:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = mock.MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        return module

    def exec_module(self, module):
        pass


sys.meta_path.append(StandIn())  # asked last
sys.path.insert(0, os.environ['DROVER_ZUUL'])

import zuul.model  # noqa: E402
import zuul.nodepool  # noqa: E402
import zuul.zk  # noqa: E402
import zuul.zk.nodepool  # noqa: E402

# Spans are recorded by a library that may be stood in for.
zuul.lib.tracing.startSavedSpan = lambda *_args, **_options: None
zuul.lib.tracing.endSavedSpan = lambda *_args, **_options: None
