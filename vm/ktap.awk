# Turn the output of one run of test_progs into KTAP.
# name, nr: what was run, and as which test; rc: exit status; ms: how long;
# expect: file of failures that are expected, see vm/expect-stock.

function normal(text) {
	sub(/^[^:]*:FAIL:/, "", text)
	sub(/ [0-9]+ nsec$/, "", text)
	# ASSERT_EQ and the like repeat the label
	if (match(text, / unexpected /)) {
		label = substr(text, 1, RSTART - 1)
		rest = substr(text, RSTART + RLENGTH)
		if (substr(rest, 1, length(label) + 1) == label ":")
			text = rest
	}
	return text
}

function result(full, state,	want, got, ok, note) {
	got = fails[full]
	want = wanted[full]
	total++
	if (state == "SKIP" && want == "") {
		skip++
		lines = lines "    ok " total " " full " # SKIP\n"
		return
	}
	ok = state == "OK"
	if (want != "") {
		if (ok)
			note = " # is expected to fail, and passed"
		else if (got == want)
			note = " # failed as expected"
		else
			note = " # failed otherwise than expected"
		ok = !ok && got == want
	}
	if (ok) {
		pass++
		lines = lines "    ok " total " " full note "\n"
	} else {
		fail++
		lines = lines "    not ok " total " " full note "\n"
	}
	if (got != "" && (!ok || note != "")) {
		got = substr(got, 1, length(got) - 1)
		gsub(/\n/, "\n    #   ", got)
		lines = lines "    #   " got "\n"
	}
}

BEGIN {
	while ((getline line < expect) > 0) {
		if (line ~ /^#/ || line !~ /\t/)
			continue
		i = index(line, "\t")
		full = substr(line, 1, i - 1)
		wanted[full] = wanted[full] substr(line, i + 1) "\n"
	}
}

/:FAIL:/ && !/^#[0-9]/ {
	if (errors)
		log_fails = log_fails normal($0) "\n"
	next
}
/^All error logs:/ { errors = 1; next }
/^#[0-9]+(\/[0-9]+)?[ \t]+.*:(OK|FAIL|SKIP)( \(.*\))?$/ {
	# names may have blanks in them
	full = $0
	sub(/^#[0-9\/]+[ \t]+/, "", full)
	sub(/ \([^()]*\)$/, "", full)
	state = full
	sub(/:[A-Z]+$/, "", full)
	sub(/^.*:/, "", state)
	if (errors) {
		if (log_fails != "")
			fails[full] = log_fails
		log_fails = ""
	} else {
		order[++count] = full
		states[full] = state
	}
	next
}
/^Summary: / { summary = 1 }
/^Summary: / && !/ 0(\/0)? FAILED/ { summary_failed = 1 }

END {
	# a subtest that was asked for, and not run, is not the whole test's success
	subtests = name ~ /\//
	for (i = 1; i <= count; i++) {
		full = order[i]
		if (full !~ /\//)
			top = states[full]
		if (full ~ /\//)
			subtests = 1
	}
	for (i = 1; i <= count; i++) {
		full = order[i]
		# a test with subtests is the sum of them, unless it failed on its own
		if (subtests && full !~ /\// && fails[full] == "")
			continue
		result(full, states[full])
		if (states[full] == "FAIL")
			raw_fails++
	}
	for (full in wanted)
		if (name !~ /[\/*]/ && index(full, name "/") == 1 && !(full in states)) {
			total++
			fail++
			lines = lines "    not ok " total " " full " # is expected to fail, and did not run\n"
		}
	why = ""
	if (rc == 124 || rc == 137)
		why = "timed out"
	else if (rc > 128)
		why = "killed by signal " rc - 128
	else if (!summary)
		why = "test_progs did not finish, status " rc
	else if (total == 0)
		why = "no such test"
	else if ((rc != 0 || summary_failed) && !raw_fails)
		why = "test_progs failed, status " rc ", and no test says so"
	else if (rc == 0 && raw_fails)
		why = "a test failed, and test_progs reports success"
	if (why != "") {
		total++
		fail++
		lines = lines "    not ok " total " " name " # " why "\n"
	}
	print "# Subtest: " name
	print "    1.." total
	printf "%s", lines
	print (fail ? "not ok " : "ok ") nr " " name " # " int(ms / 100) / 10 " s"
	print "# totals: " pass + 0 " " fail + 0 " " skip + 0
}
