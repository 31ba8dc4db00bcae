/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with PHP as a library, whose path is its argument: one request that throws and catches
 * three times. The declarations are those of PHP's sapi/embed and Zend, so that no headers of
 * theirs are needed.
 */
#include "target.h"

#include <dlfcn.h>

typedef int init_function(int argc, char** argv);
typedef int eval_function(const char* script, void* result, const char* name);
typedef void shutdown_function(void);

static void find(void* library, const char* name, void* function, size_t bytes) {
    void* symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    /* POSIX has the conversion of dlsym's result, C has not: through memory it is exact. */
    memcpy(function, &symbol, bytes);
}

int main(int argc, char** argv) {
    void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "usage: %s LIBPHP.SO\n", argv[0]);
        return 2;
    }
    init_function* init = NULL;
    eval_function* eval = NULL;
    shutdown_function* shut_down = NULL;
    find(library, "php_embed_init", &init, sizeof(init));
    find(library, "zend_eval_string", &eval, sizeof(eval));
    find(library, "php_embed_shutdown", &shut_down, sizeof(shut_down));
    target_ready_and_wait();
    char name[] = "embedded";
    char* arguments[] = {name, NULL};
    int result = init(1, arguments);
    if (result == 0) {
        result = eval(
            "for ($i = 0; $i < 3; $i++)"
            " { try { throw new LogicException('as told'); } catch (Exception $e) {} }",
            NULL, name);
        shut_down();
    }
    printf("{\"pid\":%d,\"result\":%d,\"caught\":3}\n", (int)getpid(), result);
    target_wait_for_end();
    return 0;
}
