"""Reads a scrape with the official Python client: `prometheus.py prometheus|openmetrics < text`. Prints what it found as JSON."""
import json
import sys

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as prometheus

reader = openmetrics if sys.argv[1] == 'openmetrics' else prometheus
families = list(reader.text_string_to_metric_families(sys.stdin.read()))
print(
    json.dumps(
        {
            'families': len(families),
            'samples': sum(len(family.samples) for family in families),
            'exemplars': sum(1 for family in families for sample in family.samples if sample.exemplar),
            'requests': sum(
                sample.value
                for family in families
                for sample in family.samples
                if sample.name == 'sluice_requests_total'
            ),
        }
    )
)
