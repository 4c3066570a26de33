CREATE TABLE `remembered_items` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	`sealed` blob NOT NULL
);
--> statement-breakpoint
CREATE INDEX `remembered_items_expiry` ON `remembered_items` (`expires_at`);--> statement-breakpoint
CREATE INDEX `remembered_items_workspace` ON `remembered_items` (`workspace_id`);