CREATE TABLE `logged_contents` (
	`generation_id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`clear_bytes` integer NOT NULL,
	`sealed` blob NOT NULL
);
--> statement-breakpoint
CREATE INDEX `logged_contents_expiry` ON `logged_contents` (`expires_at`);--> statement-breakpoint
CREATE INDEX `logged_contents_workspace` ON `logged_contents` (`workspace_id`);