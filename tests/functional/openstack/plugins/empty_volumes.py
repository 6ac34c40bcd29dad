"""Cinder without a storage: a volume is no more than its record."""

from cinder.volume import driver


class EmptyVolumes(driver.VolumeDriver):
    def check_for_setup_error(self):
        pass

    def _update_volume_stats(self):
        self._stats = {'volume_backend_name': 'nothing', 'vendor_name': 'Drover',
                       'driver_version': '1', 'storage_protocol': 'none',
                       'total_capacity_gb': 1000000, 'free_capacity_gb': 1000000,
                       'reserved_percentage': 0}

    def create_volume(self, volume):
        pass

    def clone_image(self, context, volume, location, metadata, service):
        return {}, True  # or Cinder would copy the image

    def delete_volume(self, volume):
        pass

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector):
        return {'driver_volume_type': 'fake', 'data': {}}

    def terminate_connection(self, volume, connector, **options):
        pass
