/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is no Python but holds one: runs the script that it is given by path. Linked with
 * the shared library of CPython, and once more with the static one.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s SCRIPT\n", argv[0]);
		return 2;
	}
	FILE *script = fopen(argv[1], "r");

	if (!script) {
		perror(argv[1]);
		return 2;
	}
	Py_InitializeEx(0);
	int result = PyRun_SimpleFile(script, argv[1]);

	fclose(script);
	return Py_FinalizeEx() < 0 || result != 0;
}
