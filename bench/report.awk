# report.awk: the report of a bench run, as text or, with md=1, as markdown.
#   dir  the run    section  names of sections (default: all)    baselines  their misses too
# A figure of a run with a wrong result is marked with !, and nothing is
# computed from it that is not marked too.

BEGIN {
	load_scenarios()
	load("run", dir)
	load_environment(dir "/environment")
	load_kernels(dir "/kernels.csv")
	load_designs()
	if (section == "")
		section = "environment kernels missing devmap cpumap floor mixed misses wall designs moved functions"
	n = split(section, todo, " ")
	for (i = 1; i <= n; i++)
		if (!show(todo[i]))
			bad("unknown section " todo[i], "one that bench/report.awk knows")
}

function show(name) {
	if (name == "environment") show_environment()
	else if (name == "kernels") show_kernels()
	else if (name == "missing") show_missing()
	else if (name == "devmap") show_class(name)
	else if (name == "cpumap") show_class(name)
	else if (name == "floor") show_class(name)
	else if (name == "mixed") show_mixed()
	else if (name == "misses") show_misses()
	else if (name == "wall") show_wall()
	else if (name == "designs") show_designs()
	else if (name == "functions") show_functions()
	else if (name == "moved") show_moved()
	else return 0
	return 1
}

# --- tables: rows of cells with tabs between, the first is the header. The
# first left columns are flush left.

function row(cells) { Row[++Rowcount] = cells }

function table(left,    i, j, n, cell, width, cols, line) {
	cols = split(Row[1], cell, "\t")
	for (i = 1; i <= Rowcount; i++) {
		n = split(Row[i], cell, "\t")
		for (j = 1; j <= n; j++)
			if (length(cell[j]) > width[j])
				width[j] = length(cell[j])
	}
	for (i = 1; i <= Rowcount; i++) {
		split(Row[i], cell, "\t")
		line = md ? "|" : " "
		for (j = 1; j <= cols; j++) {
			if (md)
				line = line " " (cell[j] == "" ? "" : cell[j] " ") "|"
			else
				line = line " " sprintf((j <= left ? "%-" : "%") width[j] "s", cell[j]) " "
		}
		sub(/ +$/, "", line)
		print line
		if (md && i == 1) {
			line = "|"
			for (j = 1; j <= cols; j++)
				line = line (j <= left ? " --- |" : " ---: |")
			print line
		}
	}
	Rowcount = 0
	if (md)
		print ""
}

function title(text) { print md ? text ":\n" : "\n" text }
function note(text) { print md ? text "\n" : "  " text }

function num(x, digits,    t) {
	if (x == "")
		return "-"
	t = sprintf("%." digits "f", x)
	return t ~ /^-0\.?0*$/ ? substr(t, 2) : t
}

function percent(x) { return x == "" ? "-" : sprintf("%+.1f %%", x * 100) }

# A figure as it is shown: failed, -, or a number that is marked if need be
function figure(s, k, what, digits) {
	if (status(s, k) ~ /^failed/)
		return "failed"
	return num(raw(s, k, what), digits) mark(s, k, raw(s, k, what))
}
function mark(s, k, x) {
	if (status(s, k) != "invalid" || x == "")
		return ""
	Marked = 1
	return "!"
}

# patched/stock, or why there is none
function ratio_cell(s, what) {
	if (status(s, "stock") == "invalid" || status(s, "patched") == "invalid")
		return "invalid"
	return num(ratio(fig(s, "patched", what), fig(s, "stock", what)), 3)
}

function columns(class,    i) {
	Columns = 0
	for (i = 1; i <= nKernels; i++)
		if (has_kernel(Kernel[i], class))
			Column[++Columns] = Kernel[i]
}
function column_heads(    i, line) {
	for (i = 1; i <= Columns; i++)
		line = line "\t" Column[i]
	return line
}
function cells(s, what, digits,    i, line) {
	for (i = 1; i <= Columns; i++)
		line = line "\t" figure(s, Column[i], what, digits)
	return line
}

# What the marks of a table mean, and why runs failed
function notes(class,    i, j, s, st) {
	if (Marked)
		note("! the frames arrived, but this kernel did the wrong thing with them")
	Marked = 0
	for (i = 1; i <= Names; i++)
		for (j = 1; j <= nKernels; j++) {
			s = Name[i]
			st = status(s, Kernel[j])
			if ((s in Picked) && Class[s] == class && st ~ /^failed/)
				note(s " on " Kernel[j] " failed: " substr(st, 8))
		}
}

# --- sections

function load_environment(file,    line, got) {
	while ((got = (getline line < file)) > 0) {
		if (line !~ /^[^:]+:/)
			bad(file ": not a line of key: value: " line)
		Environment[++Environments] = line
	}
	if (got < 0)
		bad("no " file)
}

function load_kernels(file,    line, f, n) {
	open_csv(file, "kernel,commit_tree,config,image")
	while ((getline line < file) > 0) {
		if (split(line, f, ",") != 4 || f[1] == "")
			bad(file ": not 4 fields: " line)
		Origin[++Origins] = f[1] "\t" substr(f[2], 1, 12) "\t" substr(f[3], 1, 12) "\t" substr(f[4], 1, 12)
	}
}

function show_environment(    i) {
	if (!md)
		print "Environment"
	for (i = 1; i <= Environments; i++)
		print (md ? "    " : "  ") Environment[i]
	if (md)
		print ""
}

function show_kernels(    i) {
	if (!md)
		title("Kernels")
	row("kernel\ttree\tconfiguration\timage")
	for (i = 1; i <= Origins; i++)
		row(Origin[i])
	table(4)
}

function show_missing(    i, line) {
	for (i = 1; i <= Names; i++)
		if ((Name[i] in Picked) && !measured(Name[i]))
			line = line " " Name[i]
	if (line != "")
		print "\nNot measured:" line
}

function show_class(class,    i, s, n) {
	columns(class)
	if (!Columns) {
		if (md)
			note("Not measured.")
		return
	}
	if (class == "devmap") {
		title("devmap: redirect core, instructions per packet (ratio: patched / stock)")
		row("scenario" column_heads() "\tratio")
		each(class, "", "core")
		table(1)
		notes(class)
	} else if (class == "cpumap") {
		title("cpumap: consumer and producer core, instructions per packet (ratio: patched / stock)")
		row("scenario\tcore" column_heads() "\tratio")
		each(class, "\t", "consumer producer")
		table(2)
		notes(class)
	}
	title(class ": whole run, instructions per packet (ratio: patched / stock)")
	row("scenario" column_heads() "\tratio")
	each(class, "", "whole")
	table(1)
	notes(class == "floor" ? class : "")
	if (class != "cpumap")
		return
	row("scenario" column_heads() "\tratio")
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if ((s in Picked) && has_segs(s) && ++n)
			row(s cells(s, "segs", 2) "\t" ratio_cell(s, "segs"))
	}
	if (n) {
		title("cpumap: segments per skb (ratio: patched / stock)")
		table(1)
		notes("")
	}
	Rowcount = 0
}

function has_segs(s,    i) {
	for (i = 1; i <= nKernels; i++)
		if (raw(s, Kernel[i], "segs") != "")
			return 1
	return 0
}

# A row for each scenario of a class and each figure in list; the name is not repeated
function each(class, second, list,    i, j, n, s, what) {
	n = split(list, what, " ")
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if (!(s in Picked) || Class[s] != class || !measured(s))
			continue
		for (j = 1; j <= n; j++)
			row((j == 1 ? s : "") (second == "" ? "" : second what[j]) \
				cells(s, what[j], 1) "\t" ratio_cell(s, what[j]))
	}
}

# The cost of mixing: against one program on the same kernel, and, since stock
# has no right result to compare with, against stock's one program
function show_mixed(    i, j, k, s, x, n, list, line, any) {
	for (i = 1; i <= Names; i++)
		if (Name[i] ~ /^progs-[0-9]+$/ && (Name[i] in Picked) && measured(Name[i]))
			list[++n] = Name[i]
	if (!n)
		return
	title("Mixed programs: whole run less program text, instructions per packet\n" \
		(md ? "" : "  ") "(in brackets: against progs-1 of the same kernel; last row: of stock)")
	line = "kernel"
	for (j = 1; j <= n; j++)
		line = line "\t" list[j]
	row(line)
	for (i = 1; i <= nKernels; i++) {
		k = Kernel[i]
		line = k
		any = 0
		for (j = 1; j <= n; j++) {
			s = list[j]
			x = raw(s, k, "nobpf")
			if (status(s, k) != "")
				any = 1
			line = line "\t" (status(s, k) ~ /^failed/ ? "failed" : num(x, 1)) bracket(x, fig("progs-1", k, "nobpf")) mark(s, k, x)
		}
		if (any)
			row(line)
	}
	line = "patched / stock progs-1"
	for (j = 1; j <= n; j++)
		line = line "\t" num(ratio(fig(list[j], "patched", "nobpf"), fig("progs-1", "stock", "nobpf")), 3)
	row(line)
	table(1)
	notes("")
}
function bracket(x, one) { return ratio(x, one) == "" ? "" : " (" num(x / one, 3) ")" }

function has_misses(s, k) { return raw(s, k, "l1i") != "" }

function show_misses(    i, j, k, s, n) {
	row("scenario\tL1i\tL1d\tL2")
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if (!(s in Picked) || (!has_misses(s, "stock") && !has_misses(s, "patched")))
			continue
		n++
		row(s arrow(s, "l1i") arrow(s, "l1d") arrow(s, "l2"))
	}
	if (n) {
		title("Modelled cache misses per packet, stock -> patched")
		table(1)
		notes("")
	} else {
		Rowcount = 0
		title("Modelled cache misses")
		note("The cache model was not run.")
	}
	if (!baselines || !n)
		return
	title("Modelled cache misses per packet on the baselines")
	row("scenario\tkernel\tL1i\tL1d\tL2")
	for (i = 1; i <= Names; i++)
		for (j = 1; j <= nKernels; j++) {
			s = Name[i]; k = Kernel[j]
			if ((s in Picked) && k !~ /^(stock|patched)$/ && has_misses(s, k))
				row(s "\t" k "\t" figure(s, k, "l1i", 2) "\t" figure(s, k, "l1d", 2) "\t" figure(s, k, "l2", 2))
		}
	table(2)
	notes("")
}
function arrow(s, what) { return "\t" figure(s, "stock", what, 2) " -> " figure(s, "patched", what, 2) }

function show_wall(    i, s, w, n, lone, marked, m) {
	row("scenario\tpairs\tstock ns\tpatched ns\tratio\tinterval\tconfidence")
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if (!(s in Picked) || !Pairs[Set, s])
			continue
		n++
		if (!wall(s, w)) {
			row(s "\t0\t-\t-\t-\t-\t-")
			lone = lone " " s
			continue
		}
		if (w["lone"])
			lone = lone " " s
		m = status(s, "stock") == "ok" && status(s, "patched") == "ok" ? "" : "!"
		if (m)
			marked = 1
		row(s "\t" w["n"] "\t" num(w["stock"], 1) "\t" num(w["patched"], 1) "\t" num(w["ratio"], 3) m "\t" \
			(w["lo"] == "" ? "-" : num(w["lo"], 3) " to " num(w["hi"], 3)) "\t" \
			(w["sure"] == "" ? "-" : num(w["sure"] * 100, 1) " %"))
	}
	title("Wall clock per packet: medians, and the median of the pairs' ratios patched / stock")
	if (n)
		table(1)
	else
		note("Not measured.")
	Rowcount = 0
	if (marked)
		note("! the counted run of stock or patched is not there, or is not valid")
	if (lone != "")
		note("Pairs with one half are left out:" lone)
}

# Gains in speed: cost before / cost after - 1, as Mpps after / Mpps before - 1
function show_designs(    i, s, from, to, said, bad_runs) {
	if (!Designs)
		return
	title("Designs: gain in speed, published and here (here: instructions or misses before / after - 1)")
	row("\tscenario\tkernels\tMpps\tpublished\tcore\twhole\tL1\tpatched")
	for (i = 1; i <= Designs; i++) {
		from = Design[i, 4]
		to = Design[i, 5]
		s = Design[i, 6]
		row(Design[i, 1] "\t" s "\t" from " -> " to "\t" (Design[i, 2] == "" ? "-" : Design[i, 2]) "\t" sprintf("%+g %%", Design[i, 3]) "\t" \
			percent(gain(fig(s, from, "core"), fig(s, to, "core"))) "\t" \
			percent(gain(fig(s, from, "whole"), fig(s, to, "whole"))) "\t" \
			percent(gain(fig(s, from, "l1"), fig(s, to, "l1"))) "\t" \
			percent(gain(fig(s, from, "whole"), fig(s, "patched", "whole"))))
		if (!(from SUBSEP s in said) && status(s, from) !~ /^(ok|)$/)
			bad_runs = bad_runs "\n" why(s, from, "")
		if (!(to SUBSEP s in said) && status(s, to) !~ /^(ok|)$/)
			bad_runs = bad_runs "\n" why(s, to, "")
		said[from, s] = said[to, s] = 1
	}
	table(4)
	note("core: of cpumap, the consumer's; L1: misses; patched: whole run, first kernel to patched")
	if (bad_runs != "")
		note("No figure: " substr(bad_runs, 2))
}

function show_functions(    i, s) {
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if ((s in Picked) && measured(s))
			show_scenario(s)
	}
}

function show_scenario(s,    i, j, n, count, g, groups, list, few, rest, line, k, x, sum) {
	Columns = 0
	for (i = 1; i <= nKernels; i++)
		if (status(s, Kernel[i]) ~ /^(ok|invalid)$/)
			Column[++Columns] = Kernel[i]
	title(s ": " Text[s])
	for (i = 1; i <= nKernels; i++)
		if (status(s, Kernel[i]) ~ /^failed/)
			note("no figure: " why(s, Kernel[i], ""))
	if (!Columns)
		return
	line = "instructions per packet"
	for (i = 1; i <= Columns; i++)
		line = line "\t" Column[i] mark(s, Column[i], 1)
	row(line "\tratio")
	n = split("core consumer producer", groups, " ")
	for (i = 1; i <= n; i++) {
		g = groups[i]
		if (!Functions[Set, s, g])
			continue
		few = 0
		for (j = 1; j <= Columns; j++)
			rest[j] = raw_group(s, Column[j], g)
		count = functions(s, g, list)
		for (j = 1; j <= count; j++) {
			if (peak(s, g, list[j]) < 0.5) {
				few++
				continue
			}
			line = "  " list[j]
			for (k = 1; k <= Columns; k++) {
				x = insns(s, Column[k], g, list[j])
				rest[k] -= x
				line = line "\t" num(x, 1)
			}
			x = both(s, insns(s, "patched", g, list[j]), insns(s, "stock", g, list[j]))
			row(line "\t" (x == "invalid" ? "" : x))
		}
		if (few) {
			line = "  " few " below 0.5"
			for (k = 1; k <= Columns; k++)
				line = line "\t" num(rest[k], 1)
			row(line "\t")
		}
		total(s, g, g)
	}
	total(s, "bpf", "program text")
	line = "everything else"
	for (k = 1; k <= Columns; k++)
		line = line "\t" num(outside(s, Column[k]), 1)
	row(line "\t" both(s, outside(s, "patched"), outside(s, "stock")))
	total(s, "whole", "whole run")
	if (has_segs(s)) {
		line = "segments per skb"
		for (k = 1; k <= Columns; k++)
			line = line "\t" num(raw(s, Column[k], "segs"), 2)
		row(line "\t" both(s, raw(s, "patched", "segs"), raw(s, "stock", "segs")))
	}
	table(1)
	notes("")
}
function raw_group(s, k, g) { return sum_of(Set SUBSEP s SUBSEP k, g) }
function both(s, new, old) {
	if (status(s, "stock") == "invalid" || status(s, "patched") == "invalid")
		return "invalid"
	return num(ratio(new, old), 3)
}
function total(s, g, label,    k, line) {
	for (k = 1; k <= Columns; k++)
		line = line "\t" num(raw_group(s, Column[k], g), 1)
	row(label line "\t" both(s, raw_group(s, "patched", g), raw_group(s, "stock", g)))
}

# The whole run without the core and the program text
function outside(s, k,    key) {
	key = Set SUBSEP s SUBSEP k
	if (status(s, k) !~ /^(ok|invalid)$/)
		return ""
	return Sum[key, "whole"] - Sum[key, "core"] - Sum[key, "consumer"] - Sum[key, "producer"] - Sum[key, "bpf"]
}

function show_moved(    i, j, n, s, f, a, b, list, any, first, m) {
	row("scenario\tfunction\tstock\tpatched\tdifference")
	for (i = 1; i <= Names; i++) {
		s = Name[i]
		if (!(s in Picked) || raw(s, "stock", "whole") == "" || raw(s, "patched", "whole") == "")
			continue
		m = mark(s, "stock", 1)
		if (m == "")
			m = mark(s, "patched", 1)
		first = 1
		n = functions(s, "other", list)
		for (j = 1; j <= n; j++) {
			f = list[j]
			a = insns(s, "stock", "other", f)
			b = insns(s, "patched", "other", f)
			if (abs(b - a) <= 1)
				continue
			row((first ? s : "") "\t" f "\t" num(a, 1) "\t" num(b, 1) "\t" sprintf("%+.1f", b - a) m)
			first = 0
			any = 1
		}
		if (!first)
			row("\tall outside core and programs\t" num(outside(s, "stock"), 1) "\t" num(outside(s, "patched"), 1) "\t" \
				sprintf("%+.1f", outside(s, "patched") - outside(s, "stock")) m)
	}
	title("Moved: functions outside the core that differ by more than 1 instruction per packet")
	if (any) {
		table(2)
	} else {
		note("None.")
		Marked = 0
	}
	Rowcount = 0
	notes("")
}
