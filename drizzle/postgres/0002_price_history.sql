CREATE TABLE "price_history" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"endpoint_id" text NOT NULL,
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"pricing" jsonb,
	"valid_from" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "price_history_model" ON "price_history" USING btree ("model","id");--> statement-breakpoint
CREATE INDEX "price_history_endpoint" ON "price_history" USING btree ("endpoint_id","id");