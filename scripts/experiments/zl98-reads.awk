# SPDX-License-Identifier: MIT
#
# Counts the cluster reads of one merge without the library: input is the run (from
# 0) of each page in the order in which pages are finished; strategy, b (buffer
# pages) and n (runs) are given with -v.  Follows the text of the paper (3.1 to 3.3)
# in the simplest way; where the paper leaves a choice, it follows xsort(1).

function min(x, y) { return x < y ? x : y }
function unread(r) { return pages[r] - asked[r] }

# A cluster read begins when the previous read was of another run.
function read(r, count)
{
	if (!reads || r != before)
		reads++
	before = r
	asked[r] += count
	free -= count
}

# Each run owns pages, and refills the empty ones when no more than `low` are full.
function fixed(  i, r)
{
	for (r = 0; r < n; r++) {
		if (strategy == "double") {
			low[r] = batch[r] = int(b / (2 * n))
			own[r] = 2 * low[r]
		} else {
			own[r] = int(b / n) + (r < b % n)
			batch[r] = own[r] - 1
			low[r] = 1
		}
		read(r, min(own[r], pages[r]))
	}
	for (i = 0; i < total; i++) {
		r = finished[i]
		eaten[r]++
		if (unread(r) && asked[r] - eaten[r] <= low[r])
			read(r, min(batch[r], unread(r)))
	}
}

# The consumption sequence of the paper: the page needed next when a page is finished.
function order_needs(  i, r, left)
{
	for (r = 0; r < n; r++)
		needed[at++] = r
	for (i = 0; i < total; i++)
		if (++left[finished[i]] < pages[finished[i]])
			needed[at++] = finished[i]
}

# The pages after a run's first, in clusters as equal as possible; ends[r, j] is the
# page after the j-th cluster.
function divide(  r, j, rest)
{
	rest = 0.5
	for (r = 0; r < n; r++) {
		rest += (pages[r] - 1) / (b / (n + 2))
		clusters[r] = rest < 1 ? 1 : int(rest)
		rest = rest > clusters[r] ? rest - clusters[r] : 0
		ends[r, 0] = 1
		done[r] = 0
		for (j = 1; j <= clusters[r]; j++)
			ends[r, j] = 1 + int(j * (pages[r] - 1) / clusters[r])
	}
}

function extended(  i, at, r, want)
{
	divide()
	at = 0
	for (i = 0; i <= total; i++) {
		for (;;) {
			while (at < total && seen[needed[at]] < asked[needed[at]])
				seen[needed[at++]]++
			if (at == total)
				break
			r = needed[at]
			while (ends[r, done[r]] <= asked[r])
				done[r]++
			want = ends[r, done[r]] - asked[r]
			# A run that the merge waits for takes what is free.
			if (want > free && eaten[r] == asked[r] && asked[r])
				want = free
			if (!want || want > free)
				break
			read(r, want)
		}
		if (i < total) {
			eaten[finished[i]]++
			free++
		}
	}
}

# Block clustering: a page joins its run's last cluster while F[i] >= L[i + 1].
function joins(k,  i)
{
	for (i = last; i >= k - 1 && i >= 1; i--)
		if (F[i] - (i >= k) < (i < last ? L[i + 1] + (i + 1 == k) : 1))
			return 0
	return 1
}

function clustering(  i, j, r)
{
	for (i = 0; i < total; i++) {
		r = needed[i]
		if (where[r] && joins(where[r])) {
			L[where[r]]++
			for (j = where[r]; j <= last; j++)
				F[j]--
			continue
		}
		Q[++last] = r
		L[last] = 1
		F[last] = b - n
		where[r] = last
	}
	for (i = 1; i <= last; i++)
		read(Q[i], L[i])
}

{ finished[total++] = $1; pages[$1]++ }
END {
	if (!total)
		exit 1
	free = b
	order_needs()
	if (strategy == "cluster")
		clustering()
	else if (strategy == "extended")
		extended()
	else
		fixed()
	print reads
}
