ALTER TABLE `guardrails` ADD `plugins` text;--> statement-breakpoint
ALTER TABLE `workspaces` ADD `plugins` text;