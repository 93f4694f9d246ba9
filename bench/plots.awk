# plots.awk: writes a gnuplot script for each plot, WORK/NAME.gp, and says which
# plots have no data, and what they leave out.
#   dir  the run    work  where the scripts go

BEGIN {
	load_scenarios()
	load("run", dir)
	load_designs()
	# Okabe and Ito's colours, which the colour-blind can tell apart, and grey;
	# a kernel has the same in all plots
	split("E69F00 009E73 CC79A7 D55E00 56B4E9 777777 0072B2", Colour, " ")
	split("0072B2 E69F00 009E73 CC79A7 56B4E9 D55E00 F0E442 333333", Palette, " ")
	split("9 11 13 15 2 5 7", Point, " ")
	plot_functions()
	plot_programs()
	plot_flows()
	plot_entries()
	plot_devices()
	for (i = 1; i <= 4; i++)
		plot_design(substr("ABCD", i, 1))
}

# --- gnuplot. A plot is one panel or several; what is to be drawn is collected
# in Plot, its data in blocks of the script, so that a script stands alone.

function start(name, width, height) {
	File = work "/" name ".gp"
	Plot = ""
	Blocks = 0
	split("", Titled)
	printf "%s", "set terminal svg size " width "," height " fixed noenhanced font 'sans-serif,14' background '#ffffff'\n" \
		"set border 3 lc '#333333'\nset tics nomirror out\nset xtics scale 0\n" \
		"set grid y lc '#dddddd' lt 1 lw 1\nset style fill solid 1 border lc '#ffffff'\n" \
		"set key Left reverse\n" >File
}
function put(line) { print line >File }
function block(lines) {
	printf "$d%d << EOD\n%sEOD\n", ++Blocks, lines >File
	return "$d" Blocks
}
function draw(what) { Plot = Plot (Plot == "" ? "plot " : ", \\\n\t") what }
# The key names a kernel once, in the first panel that has it
function named(text) { return Titled[text]++ ? " notitle" : " title '" text "'" }
function flush_panel() {
	put(Plot)
	Plot = ""
}
function finish(ok, name, reason) {
	close(File)
	if (ok)
		return
	system("rm -f '" File "'")
	print "skipped " name ".svg: " reason
}

# A run that has no valid figure is not drawn; named if it was run at all
function usable(name, s, k, what) {
	if (fig(s, k, what) != "")
		return 1
	if (status(s, k) ~ /^(invalid|failed)/)
		print name ".svg leaves out " why(s, k, what)
	return 0
}

# Bars, in groups: Bar[group, series] the figure; series are colours and titles.
# Where a bar is missing, its place is closed up.
function bars(groups, label, series, colour, text, unit,    g, i, n, x, top, low, tics, at, labels, lines, v, width, total) {
	top = low = 0
	total = 0
	for (g = 1; g <= groups; g++) {
		n = 0
		for (i = 1; i <= series; i++)
			n += ((g, i) in Bar)
		at = total + n / 2 + 0.5
		tics = tics (tics == "" ? "" : ", ") "\"" label[g] "\" " at
		for (i = 1; i <= series; i++) {
			if (!((g, i) in Bar))
				continue
			total++
			v = Bar[g, i]
			lines[i] = lines[i] sprintf("%g 0 %g %g %.4f %.4f\n", total, total - 0.45, total + 0.45, v < 0 ? v : 0, v < 0 ? 0 : v)
			labels = labels sprintf("%g %.4f \"" unit "\"\n", total, v, v)
			if (v > top) top = v
			if (v < low) low = v
		}
		total += 1
	}
	put("set xrange [0:" total "]")
	put(sprintf("set yrange [%g:%g]", low * 1.25, top > 0 ? top * 1.18 : 1))
	put("set xtics (" tics ")")
	put("set xzeroaxis lt 1 lc '#333333'")
	for (i = 1; i <= series; i++)
		if (lines[i] != "")
			draw(block(lines[i]) " using 1:2:3:4:5:6 with boxxyerror lc '#" colour[i] "'" named(text[i]))
	# above a bar, also above one that goes down: there it stands on the axis
	draw(block(labels) " using 1:($2 < 0 ? 0 : $2):3 with labels offset 0," (total > 24 ? "0.9 rotate by 90" : "0.6") " font '," (total > 16 ? 9 : 11) "' notitle")
	flush_panel()
}

# Core by function: one bar for each of stock and patched in each scenario. The
# eight costliest functions of a panel have colours; the rest, and what is less
# than a hundredth, are one.
function plot_functions(    ok) {
	start("core-by-function", 960, 900)
	put("set multiplot layout 2,1 margins 0.1,0.66,0.075,0.95 spacing 0,0.14")
	put("set ylabel 'instructions per packet'")
	ok += panel_functions("devmap: redirect core", 0.92, "core", "map map-pass redirect")
	ok += panel_functions("cpumap: consumer core", ok ? 0.42 : 0.92, "consumer", "cpumap-nogro cpumap-udp cpumap-tcp-8-8")
	put("unset multiplot")
	finish(ok, "core-by-function", "no core figures of stock or patched")
}

function base_name(f) {
	sub(/\.(constprop|isra|part|cold).*$/, "", f)
	sub(/@cpumap$/, "", f)
	return f
}

function panel_functions(head, key, g, scenarios,    i, j, k, n, m, s, f, x, at, tics, count, name, weight, all, cost, list, two, lines, height, labels, top, bar, place, v, own) {
	n = split(scenarios, s, " ")
	split("stock patched", two, " ")
	at = 0
	for (i = 1; i <= n; i++) {
		x = at
		if (!(s[i] in Class))
			continue
		for (j = 1; j <= 2; j++) {
			if (!usable("core-by-function", s[i], two[j], "core"))
				continue
			at++
			bar++
			place[bar] = at
			m = functions(s[i], g, list)
			for (k = 1; k <= m; k++) {
				v = insns(s[i], two[j], g, list[k])
				f = base_name(list[k])
				if (!(f in weight))
					name[++count] = f
				weight[f] += v
				all += v
				cost[f, bar] += v
			}
			tics = tics (tics == "" ? "" : ", ") "\"" two[j] "\" " at
		}
		if (at == x)
			continue
		put("set label " (g == "core" ? i : 10 + i) " '" s[i] "' at first " (x + 1 + at) / 2 ", graph 0 offset 0,-2.2 center")
		at += 0.7
	}
	if (!bar)
		return 0
	for (i = 2; i <= count; i++) {
		f = name[i]
		for (j = i - 1; j >= 1 && (weight[name[j]] < weight[f] || (weight[name[j]] == weight[f] && name[j] > f)); j--)
			name[j + 1] = name[j]
		name[j + 1] = f
	}
	for (own = 0; own < 8 && own < count && weight[name[own + 1]] >= all / 100; )
		own++
	for (i = own + 1; i <= count; i++)
		for (k = 1; k <= bar; k++)
			cost["", k] += cost[name[i], k]
	name[own + 1] = ""
	for (m = 1; m <= own + (count > own); m++) {
		for (k = 1; k <= bar; k++) {
			v = cost[name[m], k] + 0
			lines[m] = lines[m] sprintf("%g 0 %g %g %.4f %.4f\n", place[k], place[k] - 0.4, place[k] + 0.4, height[k], height[k] + v)
			height[k] += v
			if (height[k] > top)
				top = height[k]
		}
	}
	for (k = 1; k <= bar; k++)
		labels = labels sprintf("%g %.4f \"%.0f\"\n", place[k], height[k], height[k])
	put("set title '" head "'")
	put("set key at screen 0.68," key " left top Left reverse invert")
	put("set xrange [0.3:" at "]")
	put("set yrange [0:" top * 1.1 "]")
	put("set xtics (" tics ")")
	for (m = 1; m <= own + (count > own); m++)
		draw(block(lines[m]) " using 1:2:3:4:5:6 with boxxyerror lc '#" (m <= own ? Palette[m] : "bbbbbb") "' title '" \
			(m <= own ? name[m] : count - own " smaller functions") "'")
	draw(block(labels) " using 1:2:3 with labels offset 0,0.6 notitle")
	flush_panel()
	for (i = 1; i <= n; i++)
		put("unset label " (g == "core" ? i : 10 + i))
	return 1
}

# A line for each kernel over numbers; names of scenarios are prefix NUMBER suffix.
# With marks, wrong results are drawn too, and ringed.
function lines_panel(plot, prefix, numbers, suffix, what, marks,    i, j, n, x, s, k, v, data, wrong, any) {
	n = split(numbers, x, " ")
	put("set logscale x 2")
	put("set xrange [" x[1] * 0.8 ":" x[n] * 1.25 "]")
	put("set yrange [0:*]")
	gsub(/ /, ",", numbers)
	put("set xtics (" numbers ")")
	for (i = 1; i <= nKernels; i++) {
		k = Kernel[i]
		data = ""
		for (j = 1; j <= n; j++) {
			s = prefix x[j] suffix
			if (!(s in Class))
				continue
			v = marks ? raw(s, k, what) : fig(s, k, what)
			if (v == "") {
				usable(plot, s, k, what)
				continue
			}
			data = data sprintf("%d %.4f\n", x[j], v)
			if (status(s, k) == "invalid")
				wrong = wrong sprintf("%d %.4f\n", x[j], v)
		}
		if (data == "")
			continue
		any = 1
		draw(block(data) " using 1:2 with linespoints lw 2.5 pt " Point[i] " ps 0.8 lc '#" Colour[i] "'" named(k))
	}
	if (wrong != "")
		draw(block(wrong) " using 1:2 with points pt 6 ps 1.8 lw 2 lc '#000000' title 'wrong result'")
	if (any)
		flush_panel()
	return any
}

function plot_programs(    ok) {
	start("programs", 760, 460)
	put("set key outside right center")
	put("set title 'Programs interleaved on one egress device'")
	put("set xlabel 'programs'")
	put("set ylabel 'whole run less program text, instructions per packet'")
	ok = lines_panel("programs", "progs-", "1 2 4 8", "", "nobpf", 1)
	finish(ok, "programs", "no figures of progs-1 to progs-8")
}

# Two panels side by side, each with its key to the right of both
function two_panels(name) {
	start(name, 1040, 460)
	put("set multiplot layout 1,2 margins 0.09,0.86,0.13,0.9 spacing 0.09,0")
	put("set key at screen 0.87,0.88 left top Left reverse")
}

function second_panel() {
	put("set key at screen 0.87,0.5 left top Left reverse")
}

function plot_flows(    ok) {
	two_panels("flows")
	put("set xlabel 'TCP flows, in trains of 8 frames'")
	put("set title 'cpumap, GRO on: consumer core'")
	put("set ylabel 'instructions per packet'")
	ok = lines_panel("flows", "cpumap-tcp-", "1 8 64", "-8", "core", 0)
	second_panel()
	put("set title 'cpumap, GRO on: aggregation'")
	put("set ylabel 'segments per skb'")
	ok += lines_panel("flows", "cpumap-tcp-", "1 8 64", "-8", "segs", 0)
	put("unset multiplot")
	finish(ok, "flows", "no figures of cpumap-tcp-1-8, -8-8 or -64-8")
}

# Groups of kernels' bars for scenarios; returns whether there are any
function kernel_bars(plot, scenarios, labels, what,    i, j, n, s, l, groups, label, any) {
	n = split(scenarios, s, " ")
	split(labels, l, " ")
	split("", Bar)
	for (i = 1; i <= n; i++) {
		any = 0
		if (!(s[i] in Class))
			continue
		for (j = 1; j <= nKernels; j++)
			if (usable(plot, s[i], Kernel[j], what)) {
				Bar[groups + 1, j] = fig(s[i], Kernel[j], what)
				any = 1
			}
		if (any)
			label[++groups] = l[i]
	}
	if (groups)
		bars(groups, label, nKernels, Colour, Kernel, "%.0f")
	return groups > 0
}

function plot_entries(    ok) {
	start("entries", 760, 460)
	put("set key outside right center")
	put("set title 'Broadcast to 3 devices'")
	put("set xlabel 'entries of the map'")
	put("set ylabel 'core instructions per packet'")
	ok = kernel_bars("entries", "bcast-3of4 bcast-3of1024", "4 1,024", "core")
	finish(ok, "entries", "no core figures of bcast-3of4 or bcast-3of1024")
}

function plot_devices(    ok) {
	two_panels("devices")
	put("set ylabel 'core instructions per packet'")
	put("set title 'bpf_redirect()'")
	put("set xlabel 'devices in the namespace'")
	ok = kernel_bars("devices", "redirect redirect-1000dev", "1 1,000", "core")
	second_panel()
	put("set title 'map'")
	put("set xlabel 'egress devices interleaved'")
	ok += kernel_bars("devices", "egress-1 egress-4 egress-16", "1 4 16", "core")
	put("unset multiplot")
	finish(ok, "devices", "no core figures of redirect, redirect-1000dev or egress-1 to -16")
}

function plot_design(d,    i, j, n, name, from, to, s, what, text, colour, label, x, any) {
	name = "design-" d
	start(name, 1100, 480)
	n = split("core whole l1", what, " ")
	split("published, Mpps|here, core instructions|here, whole run|here, L1 misses", text, "|")
	split("777777 0072B2 56B4E9 E69F00", colour, " ")
	split("", Bar)
	for (i = 1; i <= Designs; i++) {
		if (Design[i, 1] != d)
			continue
		from = Design[i, 4]
		to = Design[i, 5]
		s = Design[i, 6]
		if (!usable(name, s, from, "whole") || !usable(name, s, to, "whole"))
			continue
		any++
		label[any] = s "\\n" from " -> " to
		Bar[any, 1] = Design[i, 3]
		for (j = 1; j <= n; j++) {
			x = gain(fig(s, from, what[j]), fig(s, to, what[j]))
			if (x != "")
				Bar[any, j + 1] = x * 100
		}
	}
	put("set title 'Design " d ": gain, published and reproduced'")
	put("set ylabel 'gain in speed: before / after - 1, %'")
	put("set key outside right center")
	put("set bmargin 4.5")
	if (any)
		bars(any, label, n + 1, colour, text, "%+.1f")
	finish(any, name, "not both kernels of a pair have figures")
}
