/* Journals of runs that can be resumed: what was written is read again, and nothing else is
 * believed. */
#include "io/journal.h"
#include "support/error.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static const weft_journal_subject subject = {
    .identity = "weft: 1\ninput: 5 bytes\n", .passes = 2, .tiles = {5000, 3}, .slot_bytes = 10000};

static int name_file(void **state) {
    (void)state;
    strcpy(path, "/tmp/weft-journal-XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static weft_journal *opened(int slots) {
    weft_journal *journal = NULL;
    assert_int_equal(weft_journal_open(path, &subject, slots, &journal), WEFT_SUCCESS);
    return journal;
}

static void write_one(bool durable) {
    char tile[10000];
    weft_journal *journal;
    memset(tile, 'x', sizeof tile);
    assert_int_equal(weft_journal_create(path, &subject, 2, durable, &journal), WEFT_SUCCESS);
    assert_int_equal(weft_journal_complete(journal, 0, 0), WEFT_SUCCESS);
    assert_int_equal(weft_journal_complete(journal, 0, 4999), WEFT_SUCCESS);
    assert_int_equal(weft_journal_complete(journal, 1, 0), WEFT_SUCCESS);
    assert_int_equal(weft_journal_save(journal, 1, 1, 2, tile, sizeof tile), WEFT_SUCCESS);
    assert_int_equal(weft_journal_save(journal, 1, 1, 1, tile + 1, 7), WEFT_SUCCESS);
    weft_journal_close(&journal);
    assert_null(journal);
}

static void what_was_written_is_read_again(void **state) {
    (void)state;
    for (int durable = 0; durable < 2; durable++) {
        unsigned char done[5000];
        int pass, tile, count = 0;
        void *bytes;
        write_one(durable);
        assert_true(weft_journal_exists(path));
        weft_journal *journal = opened(1);
        assert_true(weft_journal_is_durable(journal) == durable);
        assert_int_equal(weft_journal_slots(journal), 2);
        assert_int_equal(weft_journal_read(journal, 0, done), WEFT_SUCCESS);
        for (int i = 0; i < 5000; i++) count += done[i];
        assert_true(count == 2 && done[0] == 1 && done[4999] == 1);
        assert_int_equal(weft_journal_read(journal, 1, done), WEFT_SUCCESS);
        assert_memory_equal(done, "\1\0\0", 3);
        assert_int_equal(weft_journal_saved(journal, 0, &pass, &tile, &bytes), WEFT_SUCCESS);
        assert_true(pass == -1 && bytes == NULL);
        assert_int_equal(weft_journal_saved(journal, 1, &pass, &tile, &bytes), WEFT_SUCCESS);
        assert_true(pass == 1 && tile == 1);
        assert_memory_equal(bytes, "xxxxxxx", 7);
        free(bytes);
        weft_journal_close(&journal);
    }
}

static void slots_are_added_and_have_no_tile(void **state) {
    (void)state;
    int pass, tile;
    void *bytes;
    write_one(false);
    weft_journal *journal = opened(5);
    assert_int_equal(weft_journal_slots(journal), 5);
    assert_int_equal(weft_journal_saved(journal, 4, &pass, &tile, &bytes), WEFT_SUCCESS);
    assert_int_equal(pass, -1);
    assert_int_equal(weft_journal_save(journal, 4, 1, 0, "a", 1), WEFT_SUCCESS);
    weft_journal_close(&journal);
    journal = opened(1);
    assert_int_equal(weft_journal_slots(journal), 5);
    assert_int_equal(weft_journal_saved(journal, 4, &pass, &tile, &bytes), WEFT_SUCCESS);
    assert_true(pass == 1 && tile == 0 && *(char *)bytes == 'a');
    free(bytes);
    weft_journal_close(&journal);
}

static void refuse(const weft_journal_subject *of, const char *sentence) {
    weft_journal *journal = (weft_journal *)1;
    assert_int_equal(weft_journal_open(path, of, 1, &journal), WEFT_ERROR_MISMATCH);
    assert_null(journal);
    assert_non_null(strstr(weft_thread_error(), sentence));
}

static void other_subjects_are_refused(void **state) {
    (void)state;
    weft_journal_subject other = subject;
    write_one(false);
    other.identity = "weft: 1\ninput: 6 bytes\n";
    refuse(&other, "had \"input: 5 bytes\", and this one has \"input: 6 bytes\"");
    other.identity = "weft: 1\n";
    refuse(&other, "had \"input: 5 bytes\", and this one has \"\"");
    other = subject;
    other.tiles[1] = 4;
    refuse(&other, "damaged");
    other = subject;
    other.slot_bytes++;
    refuse(&other, "damaged");
}

static void every_damage_of_the_header_is_noticed(void **state) {
    (void)state;
    struct stat found;
    write_one(false);
    assert_int_equal(stat(path, &found), 0);
    const int fd = open(path, O_RDWR);
    for (off_t at = 0; at < 3200; at += 7) {
        unsigned char byte, wrong;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        wrong = byte ^ 0x20;
        assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
        refuse(&subject, "leave --resume out");
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    weft_journal *journal = opened(1);
    weft_journal_close(&journal);
    for (int i = 0; i < 3; i++) {
        const off_t sizes[] = {found.st_size - 1, 5000, 100};
        assert_int_equal(ftruncate(fd, sizes[i]), 0);
        refuse(&subject, "damaged");
    }
    assert_int_equal(ftruncate(fd, 0), 0);
    close(fd);
    assert_false(weft_journal_exists(path));
}

static void a_journal_without_room_is_not_there(void **state) {
    (void)state;
    struct rlimit before, limit = {4096, 4096};
    weft_journal *journal = (weft_journal *)1;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(weft_journal_create(path, &subject, 2, false, &journal), WEFT_ERROR_SYSTEM);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_null(journal);
    assert_int_not_equal(access(path, F_OK), 0);
    write_one(false); /* for remove_file */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_again),
        cmocka_unit_test(slots_are_added_and_have_no_tile),
        cmocka_unit_test(other_subjects_are_refused),
        cmocka_unit_test(every_damage_of_the_header_is_noticed),
        cmocka_unit_test(a_journal_without_room_is_not_there),
    };
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
