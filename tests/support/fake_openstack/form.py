"""What is refused: by the rules of the services, and because of its form."""

from wire import Refused


class Refusal(Refused):
    """A service's refusal; the gateway puts it into the service's wrapper. `kind`: Neutron's word."""

    def __init__(self, status, message, kind='BadRequest', headers=None):
        super().__init__(status, kind, message)
        self.status, self.message, self.kind, self.headers = status, message, kind, headers or {}


class Malformed(Refusal):
    """A request that no client may send: the state keeps it as a complaint."""

    def __init__(self, message, status=400):
        super().__init__(status, message, 'HTTPBadRequest')


# ---- Types of fields: functions that are true of what fits ----

def text(value):
    return isinstance(value, str)


def short_text(value):
    return isinstance(value, str) and 1 <= len(value) <= 255


def count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def count_or_digits(value):
    return count(value) or (isinstance(value, str) and value.isdigit())


def flag(value):
    return isinstance(value, bool)


def text_or_null(value):
    return value is None or isinstance(value, str)


def texts_by_name(value):
    return (isinstance(value, dict) and len(value) <= 128 and
            all(isinstance(one, str) and len(one) <= 255 and 1 <= len(name) <= 255
                for name, one in value.items()))


def list_of(check):
    return lambda value: isinstance(value, list) and all(check(one) for one in value)


def record(fields, required=()):
    """An object with these fields and no others."""
    def check(value):
        return (isinstance(value, dict) and set(required) <= set(value) <= set(fields) and
                all(fields[name](one) for name, one in value.items()))
    return check


def one_of(*values):
    return lambda value: value in values


def either(*checks):
    return lambda value: any(check(value) for check in checks)


# ---- Bodies and parameters ----

def check_fields(body, fields, required=(), what='body'):
    """Complains of the first field that is not known, not there, or no such value."""
    if not isinstance(body, dict):
        raise Malformed(f'{what} is no object')
    for name in required:
        if name not in body:
            raise Malformed(f"Invalid input for field/attribute {what}. '{name}' is a required "
                            'property')
    for name, value in body.items():
        if name not in fields:
            raise Malformed(f"Additional properties are not allowed ('{name}' was unexpected)")
        if not fields[name](value):
            raise Malformed(f'Invalid input for field/attribute {name}. Value: {value}.')


def wrapped(request, name):
    """The object that a body {"name": {...}} has."""
    body = request.json()
    if set(body) != {name} or not isinstance(body[name], dict):
        raise Malformed(f"the body is no object with '{name}' alone")
    return body[name]


def check_query(request, known):
    unknown = sorted(set(request.query) - set(known))
    if unknown:
        raise Malformed(f"Additional properties are not allowed ('{unknown[0]}' was unexpected)")


def page_of(request, items, most, key='id'):
    """(items of this page, marker of the next or None), as `limit` and `marker` ask."""
    limit, marker = request.query.get('limit'), request.query.get('marker')
    if limit is not None and not limit.isdigit():
        raise Malformed(f'Invalid input for query parameters limit. Value: {limit}.')
    begin = 0
    if marker is not None:
        keys = [item[key] for item in items]
        if marker not in keys:
            raise Refusal(400, f'marker [{marker}] not found')
        begin = keys.index(marker) + 1
    size = min(int(limit), most) if limit is not None else most
    page = items[begin:begin + size]
    return page, page[-1][key] if page and begin + size < len(items) else None
