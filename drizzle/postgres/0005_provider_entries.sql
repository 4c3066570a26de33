CREATE TABLE "provider_entries" (
	"id" text PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"sealed_entry" text NOT NULL,
	"disabled" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "allowance_nano_usd" bigint;--> statement-breakpoint
ALTER TABLE "provider_credentials" ADD COLUMN "weight" double precision;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_entries_slug" ON "provider_entries" USING btree ("slug");