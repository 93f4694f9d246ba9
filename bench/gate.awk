# gate.awk: compares a bench run with the committed one, and with bench/gate.
#   new, committed  the runs    gate  bench/gate
# A scenario that does not match glob is nobody's business; a row that needs one
# beside those that match is not run.

BEGIN {
	load_scenarios()
	load("committed", committed)
	load("new", new)
	load_gate()
	for (i = 1; i <= Names; i++)
		if (Name[i] in Picked)
			compare(Name[i])
	for (i = 1; i <= Gates; i++)
		judge(i)
	printf "%d open rows not met, %d not run\n", unmet, unrun
	printf "%d passed, %d failed\n", passed, failed
	exit failed > 0
}

function ok(text) { passed++; print "ok - " text }
function not_ok(text) { failed++; print "not ok - " text }
function not_run(text) { unrun++; print "not run - " text }

# --- against the committed figures

function compare(s,    i, n, what, a, b, text, wrong) {
	n = split(Class[s] == "cpumap" ? "consumer producer whole" : "core whole", what, " ")
	for (i = 1; i <= n; i++) {
		Set = "committed"
		a = fig(s, "patched", what[i])
		Set = "new"
		b = fig(s, "patched", what[i])
		if (a == "")
			continue
		text = text sprintf("%s %s %s, committed %.1f", text == "" ? "" : ";", what[i], b == "" ? "missing" : sprintf("%.1f", b), a)
		if (b == "")
			wrong = wrong " (" why(s, "patched", what[i]) ")"
		else if (b > a * 1.01 + 0.0005)
			wrong = wrong sprintf(" (%s +%.1f %%)", what[i], (a > 0 ? b / a - 1 : 1) * 100)
	}
	if (text == "")
		return
	if (wrong == "")
		ok(s ":" text)
	else
		not_ok(s ":" text wrong)
}

# --- bench/gate

function wrong_gate(text) { bad(gate ":" gate_line ": " text, "git checkout bench/gate") }

function load_gate(    line, f, n, got, part, a) {
	while ((got = (getline line < gate)) > 0) {
		gate_line++
		if (line == "" || line ~ /^#/)
			continue
		if (split(line, f, "\t") != 6)
			wrong_gate("not 6 fields")
		if (f[2] !~ /^(core|consumer|producer|whole|both|nobpf|segs|l1i|l1d|l2|saving|wall)$/)
			wrong_gate("unknown figure " f[2])
		if (f[4] !~ /^(-|(>=)?[0-9]+(\.[0-9]+)?)$/ || f[5] !~ /^(-|(>=)?[0-9]+(\.[0-9]+)?)$/ || f[4] f[5] == "--")
			wrong_gate("not a limit: " f[4] ", " f[5])
		if (f[6] !~ /^(open|final)$/)
			wrong_gate("neither open nor final: " f[6])
		n = split(f[3], a, "@")
		if (n > 2 || !(a[n] in Known) || (n == 2 && !(a[1] in Class)))
			wrong_gate("no kernel or SCENARIO@KERNEL: " f[3])
		if (f[2] == "wall" && f[3] != "stock")
			wrong_gate("the wall clock is stock's and patched's only")
		if (split(f[1], part, " less ") == 2) {
			if (!(part[1] in Class) || !(part[2] in Class) || n == 2 || f[2] ~ /^(saving|wall|segs)$/)
				wrong_gate("no difference to be had: " f[1])
		} else if (!(f[1] in Class) && (f[1] !~ /[*?[]/ || !matching(f[1]))) {
			wrong_gate("unknown scenario " f[1])
		}
		Gates++
		for (n = 1; n <= 6; n++)
			Gate[Gates, n] = f[n]
	}
	if (got < 0 || !Gates)
		bad("no " gate, "git checkout bench/gate")
}

function matching(pattern,    i, n) {
	for (i = 1; i <= Names; i++)
		n += (Name[i] ~ glob_re(pattern))
	return n
}

# A figure in Value, or in Trouble why there is none. "both" is all-core to data.awk
function value(s, k, what) {
	if (what == "both")
		what = "all-core"
	Value = fig(s, k, what)
	Trouble = Value == "" ? why(s, k, what) : ""
	return Trouble == ""
}

# The same, of X less Y
function value_of(spec, k, what,    part, x) {
	if (split(spec, part, " less ") < 2)
		return value(spec, k, what)
	if (!value(part[1], k, what))
		return 0
	x = Value
	if (!value(part[2], k, what))
		return 0
	Value = x - Value
	return 1
}

# The ratio of one row and one scenario in Value, or Trouble; Aside if the trouble is the
# other side's
function measure(spec, what, against,    a, n, new_value, old, w, saved) {
	Aside = 0
	n = split(against, a, "@")
	if (what == "wall") {
		Value = wall(spec, w) ? w["lo"] : ""
		Trouble = ""
		if (Value == "") {
			Trouble = spec " has no interval of wall clock"
			# what no wall clock was taken of, cannot be judged by it
			Aside = !Pairs[Set, spec]
		} else if (status(spec, "patched") != "ok") {
			Trouble = why(spec, "patched", what)
		} else if (status(spec, "stock") != "ok") {
			Trouble = why(spec, "stock", what)
			Aside = 1
		}
		return Trouble == ""
	}
	if (what == "saving") {
		if (!value(spec, "patched", "all-core")) return 0
		saved = -Value
		if (!value(spec, a[n], "all-core")) return 0
		saved += Value
		if (saved < 0.5) {
			Trouble = "the core saves nothing"
			return 0
		}
		if (!value(spec, "patched", "whole")) return 0
		old = -Value
		if (!value(spec, a[n], "whole")) return 0
		Value = (old + Value) / saved
		return 1
	}
	if (!value_of(spec, "patched", what)) return 0
	new_value = Value
	if (!value_of(n == 2 ? a[1] : spec, a[n], what)) {
		Aside = 1
		return 0
	}
	old = Value
	if (what ~ /^l[12]/ && abs(new_value - old) < 0.25) {
		Value = 1
	} else if (old <= 0) {
		Trouble = sprintf("%s %.2f of %.2f is no ratio", spec, new_value, old)
		return 0
	} else {
		Value = new_value / old
	}
	return 1
}

function met(limit, x) {
	if (limit ~ /^>=/)
		return x >= substr(limit, 3) - 1e-9
	return x <= limit + 1e-9
}

function verdict(i, x, text,    limit) {
	limit = Gate[i, 4] == "-" ? Gate[i, 5] : Gate[i, 4]
	if (x != "" && met(limit, x)) {
		ok(text)
	} else if (Gate[i, 6] == "final") {
		not_ok(text " (final)")
	} else {
		unmet++
		print "not met - " text " (open)"
	}
}

function judge(i,    spec, what, against, label, limits, j, s, part, a, worst, at, beside, gone, first, re, n) {
	spec = Gate[i, 1]
	what = Gate[i, 2]
	against = Gate[i, 3]
	label = spec " " what
	limits = "must " Gate[i, 4] ", aim " Gate[i, 5]
	if ((spec in Class) || spec ~ / less /) {
		n = split(spec, part, " less ")
		split(against, a, "@")
		if (!(part[1] in Picked))
			return
		if ((n == 2 && !(part[2] in Picked)) || ((a[1] in Class) && !(a[1] in Picked))) {
			not_run(label ": needs " (n == 2 ? part[2] : a[1]))
			return
		}
		if (measure(spec, what, against))
			verdict(i, Value, sprintf("%s: %.3f of %s, %s", label, Value, against, limits words(i, Value)))
		else
			verdict(i, "", sprintf("%s: no figure: %s; %s", label, Trouble, limits))
		return
	}
	re = glob_re(spec)
	for (j = 1; j <= Names; j++) {
		s = Name[j]
		if (s !~ re || !(s in Picked))
			continue
		n++
		if (measure(s, what, against)) {
			if (worst == "" || (Gate[i, 4] Gate[i, 5] ~ />=/ ? Value < worst : Value > worst)) {
				worst = Value
				at = s
			}
		} else if (Aside) {
			beside = beside " " s
		} else {
			gone++
			if (first == "")
				first = Trouble
		}
	}
	if (!n)
		return
	beside = beside == "" ? "" : "; left out:" beside
	if (gone)
		verdict(i, "", sprintf("%s: %d without a figure, the first: %s; %s%s", label, gone, first, limits, beside))
	else if (worst == "")
		verdict(i, "", sprintf("%s: no figure of %s; %s%s", label, against, limits, beside))
	else
		verdict(i, worst, sprintf("%s: %.3f of %s at worst (%s), %s%s", label, worst, against, at, limits words(i, worst), beside))
}

function words(i, x) {
	return Gate[i, 4] == "-" || Gate[i, 5] == "-" || !met(Gate[i, 4], x) ? "" : met(Gate[i, 5], x) ? " (aim met)" : " (aim not met)"
}
