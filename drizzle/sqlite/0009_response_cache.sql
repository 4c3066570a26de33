ALTER TABLE `workspaces` ADD `response_cache_enabled` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `workspaces` ADD `response_cache_ttl_seconds` integer DEFAULT 300 NOT NULL;