# Has ThreadSanitizer see what GLib orders; see the file that is linked in.
if(DROVER_SANITIZE MATCHES thread)
  add_library(glib-for-tsan OBJECT tests/support/glib-for-tsan.c)
  target_link_libraries(glib-for-tsan PRIVATE PkgConfig::GLIB)
  # Libraries whose own copy is hidden by their symbol versions take the program's.
  set_target_properties(glib-for-tsan PROPERTIES C_VISIBILITY_PRESET default
                        POSITION_INDEPENDENT_CODE ON)
  foreach(function g_mutex_lock g_mutex_unlock g_cond_wait_until g_once_init_leave
          g_atomic_rc_box_release_full g_atomic_ref_count_dec g_source_set_callback
          g_source_attach g_idle_add g_idle_add_full)
    add_link_options(LINKER:--wrap=${function})
  endforeach()
  link_libraries($<TARGET_OBJECTS:glib-for-tsan>)
endif()
