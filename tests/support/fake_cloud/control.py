"""What tests say to the fake cloud, and ask of it."""

from wire import Answer, Refused


class Control:
    def __init__(self, account, faults, log):
        self.account, self.faults, self.log = account, faults, log

    def answer(self, request):
        call = getattr(self, f'do_{"_".join(request.parts[1:])}', None)
        if call is None:
            raise Refused(404, 'no_such_call', f'there is no {request.method} {request.path}')
        return Answer(200, call(request))

    def do_faults(self, request):
        """{"faults": [rules]}; "keep": true adds them to those there are."""
        if request.method == 'POST':
            wanted = request.json()
            (self.faults.add if wanted.get('keep') else self.faults.set)(wanted['faults'])
        return {'faults': self.faults.describe()}

    def do_settings(self, request):
        if request.method == 'POST':
            self.account.change_settings(request.json())
        return self.account.settings

    def do_clock(self, request):
        self.account.clock.advance(request.json()['advance'])
        return {}

    def do_reset(self, request):
        self.account.reset()
        self.faults.set([])
        return {}

    def do_state(self, request):
        return self.account.describe()

    def do_log(self, request):
        since = int(request.query.get('since', '0'))
        return {'log': self.log[since:], 'next': len(self.log)}
