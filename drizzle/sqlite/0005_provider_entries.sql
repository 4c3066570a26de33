CREATE TABLE `provider_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`slug` text NOT NULL,
	`sealed_entry` text NOT NULL,
	`disabled` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `provider_entries_slug` ON `provider_entries` (`slug`);--> statement-breakpoint
ALTER TABLE `organizations` ADD `allowance_nano_usd` integer;--> statement-breakpoint
ALTER TABLE `provider_credentials` ADD `weight` real;