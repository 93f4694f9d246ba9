// SPDX-License-Identifier: GPL-2.0-only
/* map-entry MAP KEY VALUE [PROG]: set an entry of the pinned devmap or cpumap
 * MAP, with the pinned program PROG. VALUE is an ifindex or a ring size.
 * bpftool cannot do it: the value holds a file descriptor of the writer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

int main(int argc, char **argv)
{
	struct bpf_devmap_val val = { .bpf_prog.fd = -1 };
	__u32 key;
	int map;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: map-entry MAP KEY VALUE [PROG]\n");
		return 2;
	}
	key = strtoul(argv[2], NULL, 0);
	val.ifindex = strtoul(argv[3], NULL, 0);

	map = bpf_obj_get(argv[1]);
	if (map < 0) {
		fprintf(stderr, "map-entry: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	if (argc == 5) {
		val.bpf_prog.fd = bpf_obj_get(argv[4]);
		if (val.bpf_prog.fd < 0) {
			fprintf(stderr, "map-entry: %s: %s\n", argv[4], strerror(errno));
			return 1;
		}
	}
	/* struct bpf_cpumap_val has the same layout: ring size, program */
	if (bpf_map_update_elem(map, &key, &val, BPF_ANY)) {
		fprintf(stderr, "map-entry: %s, key %u: %s\n", argv[1], key, strerror(errno));
		return 1;
	}
	return 0;
}
