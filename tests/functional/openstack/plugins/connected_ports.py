"""Neutron without agents: what they would report is so at once."""

from neutron.services.l3_router.l3_router_plugin import L3RouterPlugin
from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class Connected(api.MechanismDriver):
    """Each port is connected as soon as it has a host."""

    def initialize(self):
        pass

    def bind_port(self, context):
        context.set_binding(context.segments_to_bind[0][api.ID], portbindings.VIF_TYPE_OVS, {},
                            status=constants.PORT_STATUS_ACTIVE)


class ConnectedRouters(L3RouterPlugin):
    """Each floating IP leads to its port from the beginning."""

    def create_floatingip(self, context, floatingip):
        made = super().create_floatingip(context, floatingip)
        made['status'] = constants.FLOATINGIP_STATUS_ACTIVE
        self.update_floatingip_status(context.elevated(), made['id'], made['status'])
        return made
