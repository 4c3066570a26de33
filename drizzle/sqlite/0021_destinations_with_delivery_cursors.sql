CREATE TABLE `export_cursors` (
	`destination_id` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`dropped` text,
	`last_success_at` integer,
	`last_error_at` integer,
	`last_error` text,
	`paused_at` integer,
	`replay` text
);
--> statement-breakpoint
CREATE TABLE `export_failed` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`destination_id` text NOT NULL,
	`generation_id` text NOT NULL,
	`failed_at` integer NOT NULL,
	`status` integer,
	`message` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `export_failed_destination` ON `export_failed` (`destination_id`,`id`);