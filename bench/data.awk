# data.awk: reads and checks the CSV files of a bench run, and answers questions
# about them. Before the program that asks: awk -f data.awk -f report.awk
#   scenarios  bench/scenarios    glob  which of them (default: all)
# Arrays are keyed by a set, so that two runs can be held beside each other:
# the questions are about the set named in Set.

function bad(what, mend) {
	printf "error: %s; try: %s\n", what, mend ? mend : "make bench" >"/dev/stderr"
	exit 1
}

# A shell pattern as a regular expression
function glob_re(g,    i, c, re, in_set) {
	for (i = 1; i <= length(g); i++) {
		c = substr(g, i, 1)
		if (in_set) {
			re = re (c == "!" && in_set == i - 1 ? "^" : c)
			if (c == "]")
				in_set = 0
		} else if (c == "[" && index(substr(g, i), "]")) {
			in_set = i
			re = re c
		} else if (c == "*") {
			re = re ".*"
		} else if (c == "?") {
			re = re "."
		} else {
			re = re (c ~ /[][A-Za-z0-9_-]/ && c !~ /[][]/ ? c : "\\" c)
		}
	}
	return "^" re "$"
}

function is_number(x) { return x ~ /^-?[0-9]+(\.[0-9]+)?$/ }

# Opens a CSV file whose first line must be the header
function open_csv(file, header,    line, got) {
	got = (getline line < file)
	if (got < 0)
		bad("no " file)
	if (got == 0 || line != header)
		bad(file ": the first line is not " header)
}

function load_scenarios(    line, f, n, re) {
	re = glob_re(glob == "" ? "*" : glob)
	while ((n = (getline line < scenarios)) > 0) {
		if (line == "" || line ~ /^#/)
			continue
		if (split(line, f, "\t") < 3 || f[2] !~ /^(devmap|cpumap|floor)$/ || (f[1] in Class))
			bad(scenarios ": not a line of name, class, text, ...: " line, "git checkout bench/scenarios")
		Name[++Names] = f[1]
		Class[f[1]] = f[2]
		Text[f[1]] = f[3]
		if (f[1] ~ re) {
			Picked[f[1]] = 1
			picked++
		}
	}
	if (n < 0 || !Names)
		bad("no " scenarios, "git checkout bench/scenarios")
	if (!picked)
		bad("no scenario matches " glob, "a name of bench/scenarios")
}

function check_scenario(at, s) {
	if (!(s in Class))
		bad(at ": unknown scenario " s, "a name of bench/scenarios")
}

function load(set, dir,    i) {
	nKernels = split("A B C D list stock patched", Kernel, " ")
	for (i = 1; i <= nKernels; i++)
		Known[Kernel[i]] = 1
	Set = set
	load_counts(dir "/counts.csv")
	load_wall(dir "/wall.csv")
}

function load_counts(file,    line, f, n, at, key, i, s, k, g, got) {
	open_csv(file, "scenario,kernel,status,packets,group,function,insns,calls,l1i,l1d,l2")
	for (n = 2; (got = (getline line < file)) > 0; n++) {
		at = file ":" n
		if ((i = split(line, f, ",")) != 11)
			bad(at ": " i " fields, not 11")
		s = f[1]; k = f[2]; g = f[5]
		check_scenario(at, s)
		if (!(k in Known))
			bad(at ": unknown kernel " k)
		if (f[3] !~ /^(ok|invalid|failed:.+)$/)
			bad(at ": unknown status " f[3])
		key = Set SUBSEP s SUBSEP k
		if ((key in Status) && (f[3] != Status[key] || f[3] ~ /^failed/))
			bad(at ": " s " on " k " has a status already: " Status[key])
		Status[key] = f[3]
		if (f[3] ~ /^failed/) {
			if (g != "none" || f[7] f[8] f[9] f[10] f[11] != "")
				bad(at ": figures of a run that failed")
			continue
		}
		if (f[4] !~ /^[1-9][0-9]*$/)
			bad(at ": not a number of packets: " f[4])
		if (g !~ /^(core|producer|consumer|bpf|user|other|whole|info)$/)
			bad(at ": unknown group " g)
		if (f[6] == "" || (key SUBSEP g SUBSEP f[6]) in Insns)
			bad(at ": " (f[6] == "" ? "no function" : f[6] " a second time"))
		for (i = 7; i <= 11; i++)
			if (!is_number(f[i]) && !(f[i] == "" && (i > 7 || g == "info")))
				bad(at ": not a figure: \"" f[i] "\"")
		if ((f[9] == "") != (f[10] == "") || (f[10] == "") != (f[11] == ""))
			bad(at ": some of l1i, l1d, l2 only")
		Insns[key, g, f[6]] = f[7]
		if (g == "info") {
			if (f[6] == "[skbs]" && f[8] > 0)
				Segs[key] = 1 / f[8]
			continue
		}
		Sum[key, g] += f[7]
		if (g == "whole") {
			if (f[9] != "") {
				Miss[key, "l1i"] = f[9]
				Miss[key, "l1d"] = f[10]
				Miss[key, "l2"] = f[11]
			}
			continue
		}
		Total[key] += f[7]
		Rows[key]++
		if (!((Set, s, g, f[6]) in Seen)) {
			Seen[Set, s, g, f[6]] = 1
			Function[Set, s, g, ++Functions[Set, s, g]] = f[6]
		}
	}
	if (got < 0 || n == 2)
		bad(file ": no rows")
	close(file)

	# A file that was cut short shows in its sums; each row is rounded
	for (i = 1; i <= Names; i++)
		for (n = 1; n <= nKernels; n++) {
			s = Name[i]; k = Kernel[n]
			key = Set SUBSEP s SUBSEP k
			if (Status[key] !~ /^(ok|invalid)$/)
				continue
			if (!((key, "whole", "*") in Insns))
				bad(file ": " s " on " k " has no row for the whole run")
			g = Sum[key, "whole"]
			if (abs(Total[key] - g) > abs(g) / 1000 + Rows[key] / 1000)
				bad(sprintf("%s: %s on %s: the functions add up to %.3f, the whole run is %.3f",
					file, s, k, Total[key], g))
		}
}

# It may not be there: what cannot be had is shown as missing
function load_wall(file,    line, f, n, at, got) {
	if ((getline line < file) < 0)
		return
	close(file)
	open_csv(file, "scenario,pair,kernel,ns")
	for (n = 2; (got = (getline line < file)) > 0; n++) {
		at = file ":" n
		if (split(line, f, ",") != 4)
			bad(at ": not 4 fields")
		check_scenario(at, f[1])
		if (f[2] !~ /^[1-9][0-9]*$/ || f[3] !~ /^(stock|patched)$/ || !is_number(f[4]) || f[4] <= 0)
			bad(at ": not pair, kernel, nanoseconds: " line)
		if ((Set, f[1], f[2], f[3]) in Wall)
			bad(at ": " f[3] " of pair " f[2] " a second time")
		if (!((Set, f[1], f[2]) in Pair)) {
			Pair[Set, f[1], f[2]] = 1
			PairName[Set, f[1], ++Pairs[Set, f[1]]] = f[2]
		}
		Wall[Set, f[1], f[2], f[3]] = f[4]
	}
	close(file)
}

function abs(x) { return x < 0 ? -x : x }

function status(s, k) { return ((Set, s, k) in Status) ? Status[Set, s, k] : "" }

# Does class (or, with none, the whole run) have anything of a kernel?
function has_kernel(k, class,    i, s) {
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if ((s in Picked) && (class == "" || Class[s] == class) && status(s, k) != "")
			return 1
	}
	return 0
}

function measured(s,    i) {
	for (i = 1; i <= nKernels; i++)
		if (status(s, Kernel[i]) != "")
			return 1
	return 0
}

function sum_of(key, g) { return ((key, g) in Sum) ? Sum[key, g] : "" }

# A figure per packet, also of a run with a wrong result; "" where there is none.
#   core      of the redirect core; of cpumap, the consumer's
#   all-core  of cpumap, the consumer's and the producer's
#   nobpf     the whole run less program text
#   segs      segments per skb    l1  l1i + l1d
function raw(s, k, what,    key, a, b) {
	key = Set SUBSEP s SUBSEP k
	if (status(s, k) !~ /^(ok|invalid)$/)
		return ""
	if (what == "core")
		return sum_of(key, Class[s] == "cpumap" ? "consumer" : "core")
	if (what == "all-core" && Class[s] == "cpumap") {
		a = sum_of(key, "consumer")
		b = sum_of(key, "producer")
		return a == "" || b == "" ? "" : a + b
	}
	if (what == "all-core")
		return sum_of(key, "core")
	if (what == "nobpf") {
		a = sum_of(key, "bpf")
		return a == "" ? "" : Sum[key, "whole"] - a
	}
	if (what == "segs")
		return (key in Segs) ? Segs[key] : ""
	if (what == "l1")
		return ((key, "l1i") in Miss) ? Miss[key, "l1i"] + Miss[key, "l1d"] : ""
	if (what ~ /^l/)
		return ((key, what) in Miss) ? Miss[key, what] : ""
	return sum_of(key, what)
}

# The same, only of a run that did what it should
function fig(s, k, what) { return status(s, k) == "ok" ? raw(s, k, what) : "" }

# Why there is no such figure
function why(s, k, what,    st) {
	st = status(s, k)
	if (st == "")
		return s " on " k " was not measured"
	if (st == "ok")
		return s " on " k " has no figure for " what
	return s " on " k ": " (st == "invalid" ? "wrong result" : substr(st, 8))
}

# new / old; "" where one is missing
function ratio(new, old) { return new == "" || old == "" || old <= 0 ? "" : new / old }

# Speed from cost: what took old takes new now
function gain(old, new) { return ratio(old, new) == "" ? "" : old / new - 1 }

function sort_numbers(a, n,    i, j, x) {
	for (i = 2; i <= n; i++) {
		x = a[i]
		for (j = i - 1; j >= 1 && a[j] > x; j--)
			a[j + 1] = a[j]
		a[j + 1] = x
	}
}

function median(a, n) {
	sort_numbers(a, n)
	return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}

# Wall clock of a scenario: w["n"] complete pairs, median nanoseconds of both,
# median of the ratios patched/stock and its interval. Between the k-th smallest
# and the k-th largest ratio lies the true median, unless fewer than k of n
# fell on one side of it, as in tossing a coin; k is the largest for which that
# is 5 % or less. Below 6 pairs there is none.
function wall(s, w,    i, n, p, a, b, r, k, term, tail) {
	w["n"] = w["lone"] = 0
	w["lo"] = w["hi"] = w["sure"] = ""
	for (i = 1; i <= Pairs[Set, s]; i++) {
		p = PairName[Set, s, i]
		if (!((Set, s, p, "stock") in Wall) || !((Set, s, p, "patched") in Wall)) {
			w["lone"]++
			continue
		}
		n++
		a[n] = Wall[Set, s, p, "stock"] + 0
		b[n] = Wall[Set, s, p, "patched"] + 0
		r[n] = b[n] / a[n]
	}
	if (!n)
		return 0
	w["n"] = n
	w["stock"] = median(a, n)
	w["patched"] = median(b, n)
	w["ratio"] = median(r, n)
	term = tail = 0.5 ^ n
	for (k = 0; 2 * tail <= 0.05; ) {
		k++
		w["sure"] = 1 - 2 * tail
		term *= (n - k + 1) / k
		tail += term
	}
	if (k) {
		w["lo"] = r[k]
		w["hi"] = r[n + 1 - k]
	}
	return 1
}

# The functions of a group of a scenario in list[], the costliest first; returns how many
function functions(s, g, list,    i, j, k, n, f, x, top) {
	n = Functions[Set, s, g]
	for (i = 1; i <= n; i++) {
		f = Function[Set, s, g, i]
		x = peak(s, g, f)
		for (j = i - 1; j >= 1 && (top[j] < x || (top[j] == x && list[j] > f)); j--) {
			list[j + 1] = list[j]
			top[j + 1] = top[j]
		}
		list[j + 1] = f
		top[j + 1] = x
	}
	return n
}

function insns(s, k, g, f) { return ((Set, s, k, g, f) in Insns) ? Insns[Set, s, k, g, f] : "" }

function peak(s, g, f,    i, x, max) {
	max = 0
	for (i = 1; i <= nKernels; i++) {
		x = abs(insns(s, Kernel[i], g, f))
		if (x > max)
			max = x
	}
	return max
}

# The designs' published gains, and the runs that reproduce them:
# Design[i] design, published in Mpps, gain in %, kernels from and to, scenario
function load_designs(    n, i, d, s, part) {
	n = split("A;5.0 -> 8.4;68;A;stock;redirect\n" \
		"A;5.0 -> 8.4;68;A;stock;napi-redirect\n" \
		"B;9.1 -> 9.5;4.4;B;stock;map\n" \
		"B;8.0 -> 7.5;-6.3;B;stock;map-pass\n" \
		"B;8.0 -> 7.5;-6.3;B;stock;napi-map-pass\n" \
		"C;2.2 -> 3.15;43;C;list;cpumap-nogro\n" \
		"C;2.2 -> 3.15;43;C;list;cpumap-nogro-fwd\n" \
		"C;2.7 -> 2.4;-11;list;stock;cpumap-udp\n" \
		"C;2.7 -> 2.4;-11;list;stock;cpumap-udp-fwd\n" \
		"D;4.0 -> 4.7;17.5;D;stock;cpumap-tcp-8-8\n" \
		"D;4.0 -> 4.7;17.5;D;stock;cpumap-tcp-8-8-fwd\n" \
		"D;4.0 -> 4.7;17.5;D;stock;cpumap-tcp-1-32-fwd\n" \
		"D;;74;list;stock;cpumap-tcp-8-8\n" \
		"D;;74;list;stock;cpumap-tcp-8-8-fwd\n" \
		"D;;74;list;stock;cpumap-tcp-1-32-fwd", d, "\n")
	for (i = 1; i <= n; i++) {
		split(d[i], part, ";")
		if (!(part[6] in Picked))
			continue
		Designs++
		for (s = 1; s <= 6; s++)
			Design[Designs, s] = part[s]
	}
}
