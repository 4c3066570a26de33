// Reads a scrape with Prometheus' own parser for its text format, and prints what it found as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func main() {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	samples := 0
	requests := 0.0
	for name, family := range families {
		samples += len(family.GetMetric())
		if name == "sluice_requests_total" {
			for _, metric := range family.GetMetric() {
				requests += metric.GetCounter().GetValue()
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"families": len(families), "metrics": samples, "requests": requests})
}
