ALTER TABLE `api_keys` ADD `rate_limits` text;--> statement-breakpoint
ALTER TABLE `workspaces` ADD `rate_limits` text;--> statement-breakpoint
ALTER TABLE `guardrails` ADD `rate_limits` text;