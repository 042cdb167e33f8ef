package api

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

var (
	budgetNodesPattern    = regexp.MustCompile(`^((100|[0-9]{1,2})%|[0-9]+)$`)
	budgetDurationPattern = regexp.MustCompile(`^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$`)
)

// checkBudget applies the rules for a budget and converts it.
func checkBudget(b *Budget, path string, r *reporter) cluster.Budget {
	out := cluster.Budget{Nodes: *b.Nodes, Reasons: b.Reasons, Schedule: text(b.Schedule)}
	if !budgetNodesPattern.MatchString(*b.Nodes) {
		r.add(field(path, "nodes"), strconv.Quote(shorten(*b.Nodes))+` is not allowed; write a number of nodes such as "5", or "0%" to "100%"`)
	} else if _, err := strconv.ParseInt(strings.TrimSuffix(*b.Nodes, "%"), 10, 32); err != nil {
		r.add(field(path, "nodes"), strconv.Quote(shorten(*b.Nodes))+` is more nodes than there can be; write "100%" for no limit`)
	}
	r.atMost(field(path, "reasons"), len(b.Reasons), maxReasons)
	for i, reason := range b.Reasons {
		r.oneOf(index(field(path, "reasons"), i), reason, budgetReasons...)
	}
	switch {
	case b.Schedule != nil && b.Duration == nil:
		r.missing(field(path, "duration"), "a budget with a schedule says how long it lasts each time, such as 8h")
	case b.Schedule == nil && b.Duration != nil:
		r.missing(field(path, "schedule"), "a budget with a duration says when it begins, such as 0 9 * * mon-fri")
	}
	if b.Schedule != nil {
		checkSchedule(*b.Schedule, field(path, "schedule"), r)
	}
	if b.Duration != nil {
		out.Duration = checkBudgetDuration(*b.Duration, field(path, "duration"), r)
	}
	return out
}

// checkBudgetDuration wants hours and minutes.
func checkBudgetDuration(s, path string, r *reporter) time.Duration {
	if !budgetDurationPattern.MatchString(s) {
		r.add(path, strconv.Quote(shorten(s))+" is not allowed; write hours and minutes, such as 8h, 90m or 1h30m"+mendBudgetDuration(s))
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		r.add(path, strconv.Quote(shorten(s))+" is longer than can be counted; leave schedule and duration out for a budget that always holds")
	}
	if err == nil && d == 0 {
		r.warn(path, "a budget of no duration never holds")
	}
	return d
}

// mendBudgetDuration says what was probably meant, "" where it cannot.
func mendBudgetDuration(s string) string {
	if found := dayPattern.FindStringSubmatch(s); found != nil {
		return mendDuration(s, false)
	}
	if d, err := time.ParseDuration(s); err == nil && d >= time.Minute && d%time.Minute == 0 {
		return `; did you mean "` + writeDuration(d) + `"?`
	}
	return ""
}

// anyDay is where the search for a cron's next time begins. A cron repeats after
// four years at the latest, so that any day does.
var anyDay = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// checkSchedule wants a cron that the scheduler of budgets understands and that
// comes true some day.
func checkSchedule(s, path string, r *reporter) {
	const mend = "write minute, hour, day of the month, month and day of the week, such as 0 9 * * mon-fri, or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually; times are in UTC"
	fields := strings.Fields(s)
	switch {
	case strings.Contains(s, "TZ="):
		r.add(path, strconv.Quote(shorten(s))+" names a time zone, which schedules do not know; "+mend)
		return
	case strings.HasPrefix(s, "@every"), !strings.HasPrefix(s, "@") && len(fields) != 5:
		r.addf(path, "%q has %d fields and not five; %s", shorten(s), len(fields), mend)
		return
	}
	when, err := cron.ParseStandard(s)
	if err != nil {
		r.add(path, strconv.Quote(shorten(s))+" is not a schedule ("+err.Error()+"); "+mend)
		return
	}
	if when.Next(anyDay).IsZero() {
		r.add(path, strconv.Quote(s)+" never comes: there is no such day; "+mend)
	}
}
