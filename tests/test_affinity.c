/* Where hwloc says a PCI device sits, on a machine made up: two sockets of two cores, a GPU and a
 * network card on the second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/affinity.h"

static void print_set(FILE *xml, const char *names, unsigned set) {
    for (const char *name = names; *name;) {
        int length = (int)strcspn(name, " ");
        fprintf(xml, " %.*s=\"0x%08x\"", length, name, set);
        name += length + (name[length] == ' ');
    }
}

static void print_object(FILE *xml, const char *type, unsigned number, unsigned cores,
                         unsigned nodes) {
    fprintf(xml, "<object type=\"%s\" os_index=\"%u\"", type, number);
    print_set(xml, "cpuset complete_cpuset", cores);
    print_set(xml, "nodeset complete_nodeset", nodes);
}

static void print_core(FILE *xml, unsigned number, unsigned nodes) {
    print_object(xml, "Core", number, 1u << number, nodes);
    fprintf(xml, ">");
    print_object(xml, "PU", number, 1u << number, nodes);
    fprintf(xml, "/></object>\n");
}

static void print_devices(FILE *xml) {
    fprintf(xml, "<object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" "
                 "bridge_pci=\"0000:[00-ff]\">\n"
                 "<object type=\"PCIDev\" pci_busid=\"0000:19:00.0\" "
                 "pci_type=\"0302 [10de:2330] [10de:16c1] a1\" pci_link_speed=\"0.0\"/>\n"
                 "<object type=\"PCIDev\" pci_busid=\"0000:1a:00.0\" "
                 "pci_type=\"0207 [15b3:1021] [15b3:0041] 00\" pci_link_speed=\"0.0\">"
                 "<object type=\"OSDev\" name=\"ib0\" osdev_type=\"2\"/>"
                 "<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"3\"/></object>\n"
                 "</object>\n");
}

static void write_machine(FILE *xml) {
    fprintf(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n");
    fprintf(xml, "<object type=\"Machine\" os_index=\"0\"");
    print_set(xml, "cpuset complete_cpuset allowed_cpuset", 0xf);
    print_set(xml, "nodeset complete_nodeset allowed_nodeset", 0x3);
    fprintf(xml, ">\n");
    for (unsigned socket = 0; socket < 2; socket++) {
        const unsigned node = 1u << socket;
        print_object(xml, "Package", socket, 3u << 2 * socket, node);
        fprintf(xml, ">\n");
        print_object(xml, "NUMANode", socket, 3u << 2 * socket, node);
        fprintf(xml, " local_memory=\"1073741824\"/>\n");
        print_core(xml, 2 * socket, node);
        print_core(xml, 2 * socket + 1, node);
        if (socket == 1) print_devices(xml);
        fprintf(xml, "</object>\n");
    }
    fprintf(xml, "</object>\n</topology>\n");
}

static void a_gpu_is_near_the_cores_and_the_card_of_its_socket(void **state) {
    (void)state;
    char name[] = "/tmp/weft-affinity-XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0);
    FILE *xml = fdopen(file, "w");
    write_machine(xml);
    fclose(xml);
    setenv("HWLOC_XMLFILE", name, 1);
    weft_affinity found_affinity;
    bool found = weft_affinity_of_pci("0000:19:00.0", &found_affinity);
    weft_affinity nowhere;
    bool other = weft_affinity_of_pci("0000:77:00.0", &nowhere);
    unsetenv("HWLOC_XMLFILE");
    unlink(name);
    assert_true(found);
    assert_int_equal(found_affinity.numa, 1);
    assert_int_equal(found_affinity.first, 2);
    assert_int_equal(found_affinity.cores, 2);
    assert_string_equal(found_affinity.network, "mlx5_0");
    assert_false(other);
    assert_int_equal(nowhere.numa, -1);
    assert_int_equal(nowhere.cores, 4);
}

static void a_device_of_no_machine_is_not_found(void **state) {
    (void)state;
    weft_affinity found_affinity;
    assert_false(weft_affinity_of_pci("ffff:00:00.0", &found_affinity));
    assert_int_equal(found_affinity.numa, -1);
    assert_true(found_affinity.cores >= 1);
    assert_string_equal(found_affinity.network, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef WEFT_HWLOC
        cmocka_unit_test(a_gpu_is_near_the_cores_and_the_card_of_its_socket),
#endif
        cmocka_unit_test(a_device_of_no_machine_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
