CREATE TABLE `price_history` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`endpoint_id` text NOT NULL,
	`provider` text NOT NULL,
	`model` text NOT NULL,
	`pricing` text,
	`valid_from` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `price_history_model` ON `price_history` (`model`,`id`);--> statement-breakpoint
CREATE INDEX `price_history_endpoint` ON `price_history` (`endpoint_id`,`id`);