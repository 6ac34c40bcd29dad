/* Which nodes are over their age. */
#include "launcher/upkeep/expiry.h"
#include "records.h"

#define NOW 1000.0

typedef struct {
    const char *record;
    int max_hold_age;
    double limit;
    gboolean over;
} Case;

static const Case ready_cases[] = {
    {"{'state':'ready','state_time':990,'type':['ten']}", 0, 10, TRUE},
    {"{'state':'ready','state_time':990.5,'type':['ten']}", 0, 10, FALSE},
    {"{'state':'ready','state_time':1,'type':['none']}", 0, 0, FALSE},
    {"{'state':'ready','state_time':1,'type':['unknown']}", 0, 0, FALSE},
    {"{'state':'ready','state_time':1,'type':[]}", 0, 0, FALSE},
    {"{'state':'ready','state_time':950,'type':['none','hundred','ten']}", 0, 10, TRUE},
    {"{'state':'ready','state_time':950,'type':['none','hundred']}", 0, 100, FALSE},
    {"{'state':'ready','state_time':1,'type':['ten'],'allocated_to':'200-0000000001'}", 0, 0,
     FALSE},
    {"{'state':'in-use','state_time':1,'type':['ten']}", 5, 0, FALSE},
    {0},
};

static const Case hold_cases[] = {
    {"{'state':'hold','state_time':1}", 0, 0, FALSE},
    {"{'state':'hold','state_time':994}", 5, 5, TRUE},
    {"{'state':'hold','state_time':996}", 5, 5, FALSE},
    {"{'state':'hold','state_time':996,'hold_expiration':2}", 5, 2, TRUE},
    {"{'state':'hold','state_time':994,'hold_expiration':180}", 5, 5, TRUE},
    {"{'state':'hold','state_time':994,'hold_expiration':180}", 0, 180, FALSE},
    {"{'state':'hold','state_time':999,'hold_expiration':'1'}", 0, 1, TRUE},
    {"{'state':'hold','state_time':1,'hold_expiration':'x'}", 0, 0, FALSE},
    {"{'state':'hold','state_time':1,'hold_expiration':-1}", 0, 0, FALSE},
    {"{'state':'hold','state_time':994,'hold_expiration':'x'}", 5, 5, TRUE},
    {0},
};

static const Case init_cases[] = {
    {"{'state':'init','state_time':400}", 0, 600, TRUE},
    {"{'state':'init','state_time':401}", 0, 600, FALSE},
    {0},
};

static const Case clock_cases[] = {
    {"{'state':'ready','type':['ten']}", 0, 10, FALSE},
    {"{'state':'ready','state_time':null,'type':['ten']}", 0, 10, FALSE},
    {"{'state':'ready','state_time':'1','type':['ten']}", 0, 10, FALSE},
    {"{'state':'ready','state_time':5000,'type':['ten']}", 0, 10, FALSE},
    {"{'state':'hold','state_time':0}", 5, 5, FALSE},
    {"{'state':'hold','state_time':5000}", 5, 5, FALSE},
    {0},
};

static void
test_cases(gconstpointer user_data)
{
    DroverLabelConfig labels[] = {
        {(char *)"none", 2, 0}, {(char *)"ten", 0, 10}, {(char *)"hundred", 0, 100}};
    DroverConfig config = {.labels = g_ptr_array_new()};

    for (guint i = 0; i < G_N_ELEMENTS(labels); i++)
        g_ptr_array_add(config.labels, &labels[i]);
    for (const Case *c = user_data; c->record != NULL; c++) {
        g_autoptr(DroverNode) node = test_node_new("1", c->record);

        g_test_message("%s", c->record);
        config.max_hold_age = c->max_hold_age;
        g_assert_cmpfloat(drover_expiry_limit(node, &config), ==, c->limit);
        g_assert_cmpint(drover_expiry_is_over(node, &config, NOW), ==, c->over);
    }
    g_ptr_array_unref(config.labels);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/launcher/expiry/L-71-ready", ready_cases, test_cases);
    g_test_add_data_func("/launcher/expiry/L-73-L-74-hold", hold_cases, test_cases);
    g_test_add_data_func("/launcher/expiry/L-88-init", init_cases, test_cases);
    g_test_add_data_func("/launcher/expiry/clock", clock_cases, test_cases);
    return g_test_run();
}
